import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { pathToFileURL } from 'node:url'
import * as fc from 'fast-check'
import { Controller, file, type FileOptions, Get, NotFound } from 'sequitur'
import { api } from '../support/api.js'
import { runs } from '../support/fuzz.js'

/** A folder with files to send, beside one with files that are not: in any of these, the text is 'inside' or 'outside'. */
function folders(t: TestContext) {
  const base = mkdtempSync(join(tmpdir(), 'sequitur-root-'))
  t.after(() => rmSync(base, { recursive: true }))
  const root = join(base, 'root')
  const outside = join(base, 'outside')
  for (const folder of ['sub', '.git', 'café']) mkdirSync(join(root, folder), { recursive: true })
  mkdirSync(outside)
  for (const name of ['a.txt', 'sub/b.txt', '.env', '.git/config', 'café/c d.txt', '10:00.txt', '..a', 'a..b'])
    writeFileSync(join(root, name), 'inside')
  for (const path of [join(outside, 'b.txt'), join(base, 'secret.txt'), join(base, 'root.txt')])
    writeFileSync(path, 'outside')
  const links: readonly (readonly [target: string, link: string])[] = [
    ['a.txt', 'link-inside.txt'],
    ['sub', 'link-sub'],
    ['../secret.txt', 'link-outside.txt'],
    [outside, 'link-folder'],
    ['nowhere', 'link-broken'],
    ['link-loop', 'link-loop'],
    ['/', 'link-top'],
  ]
  for (const [target, link] of links) symlinkSync(target, join(root, link))
  symlinkSync('root', join(base, 'link-root'))
  return { base, root, outside }
}

/** What a route answers that sends the file of a name. */
async function sender(t: TestContext, options: FileOptions & { readonly root: string | URL }) {
  @Controller()
  class Files {
    @Get('/', { produces: '*/*' }) get(name: string) {
      return file(name, options)
    }
  }
  const { fetch, log } = await api(t, [Files])
  const send = async (name: string) => {
    const response = await fetch(`/?name=${encodeURIComponent(name)}`)
    return { status: response.status, text: await response.text() }
  }
  return { send, log }
}

const sent = ['a.txt', 'sub/b.txt', 'café/c d.txt', '10:00.txt', 'a..b', 'link-inside.txt', 'link-sub/b.txt']

for (const name of sent) {
  test(`file('${name}', { root }) is sent`, { skip: process.platform === 'win32' }, async (t) => {
    const { send } = await sender(t, { root: folders(t).root })
    assert.deepEqual(await send(name), { status: 200, text: 'inside' })
  })
}

const refused: readonly (readonly [why: string, names: readonly string[]])[] = [
  ['leads outside', ['../secret.txt', 'sub/../../secret.txt', '../root.txt', '..', 'sub/..', '../root/a.txt']],
  ['leads outside by a link', ['link-outside.txt', 'link-folder/b.txt', 'link-top/etc/passwd']],
  ['is absolute', ['/etc/passwd', '//etc/passwd', '/', 'C:/a.txt', 'c:a.txt', 'file:///etc/passwd']],
  ['has separators of Windows', ['..\\secret.txt', 'sub\\b.txt', '\\\\host\\share', '\\a.txt']],
  ['is a device of Windows', ['NUL', 'con', 'aux.txt', 'COM1', 'lpt9.log', 'sub/nul', 'CONIN$', 'prn .txt']],
  ['is another name for a file on Windows', ['a.txt.', 'a.txt ', 'a.txt. .', 'sub./b.txt']],
  ['has a control character', ['a.txt\0', '\0', 'a.txt\0.png', 'a\n.txt', 'a\u0085']],
  ['begins with a dot', ['.env', '.git/config', '..a', 'sub/.hidden']],
  [
    'is not there',
    ['b.txt', 'a.txt/b', 'a.txt/', 'sub//b.txt', './a.txt', 'link-broken', 'link-loop', 'x'.repeat(300)],
  ],
  ['is no file', ['sub', 'link-sub', 'café']],
]

for (const [why, names] of refused) {
  test(`a name that ${why} is a 404 without a reason`, async (t) => {
    const { root } = folders(t)
    const { send, log } = await sender(t, { root })
    for (const name of names) {
      const { status, text } = await send(name)
      // An input refuses U+0000 by itself.
      if (name.includes('\0')) assert.equal(status, 422)
      else assert.deepEqual([name, status, JSON.parse(text).detail], [name, 404, 'There is no such file.'])
      await assert.rejects(file(name, { root }), NotFound)
    }
    assert.deepEqual(log, [])
  })
}

test('a file that may not be read is a 404', { skip: process.platform === 'win32' }, async (t) => {
  const { base, root } = folders(t)
  writeFileSync(join(root, 'closed.txt'), 'inside', { mode: 0 })
  chmodSync(base, 0o755)
  const { send } = await sender(t, { root })
  const isSuperuser = process.getuid?.() === 0 // may read everything
  if (isSuperuser) process.seteuid?.(65_534)
  try {
    assert.equal((await send('a.txt')).status, 200)
    assert.equal((await send('closed.txt')).status, 404)
  } finally {
    if (isSuperuser) process.seteuid?.(0)
  }
})

test('an empty name is a 404', async (t) => {
  await assert.rejects(file('', { root: folders(t).root }), NotFound)
})

test('dotfiles: true gives names that begin with a dot, and nothing outside', async (t) => {
  const { root } = folders(t)
  const { send } = await sender(t, { root, dotfiles: true })
  for (const name of ['.env', '.git/config']) assert.equal((await send(name)).text, 'inside')
  for (const name of ['../secret.txt', '.', '..', './a.txt', '.git/../../secret.txt'])
    assert.equal((await send(name)).status, 404)
})

test('a root may be a URL, a path that ends in a slash, or a link', async (t) => {
  const { base, root } = folders(t)
  for (const one of [pathToFileURL(root), pathToFileURL(`${root}/`), `${root}/`, join(base, 'link-root')]) {
    const { send } = await sender(t, { root: one })
    assert.equal((await send('sub/b.txt')).text, 'inside')
    assert.equal((await send('link-folder/b.txt')).status, 404)
    assert.equal((await send('../secret.txt')).status, 404)
  }
})

const PIECES = [
  '..',
  '.',
  '/',
  '\\',
  'a.txt',
  'sub',
  'b.txt',
  'link-sub',
  'link-folder',
  'link-top',
  'root',
  'outside',
  'secret.txt',
  'C:',
  ' ',
  '%2f',
  '\u2215',
  '.git',
  'config',
  '~',
  '\n',
  '::$DATA',
]

test('whatever the name, what is sent is inside', async (t) => {
  const { base, root } = folders(t)
  const absolute = fc.constantFrom(root, base, join(base, 'outside'), '')
  const name = fc
    .tuple(absolute, fc.array(fc.constantFrom(...PIECES), { maxLength: 8 }))
    .map(([start, parts]) => start + parts.join(''))
  for (const dotfiles of [false, true]) {
    const { send } = await sender(t, { root, dotfiles })
    await fc.assert(
      fc.asyncProperty(
        name.filter((text) => text.isWellFormed()),
        async (text) => {
          const answer = await send(text)
          if (answer.status === 200) assert.equal(answer.text, 'inside')
          else assert.equal(answer.status, 404)
        },
      ),
      { numRuns: runs(300) },
    )
  }
})

for (const [what, replace] of [
  [
    'the file',
    ({ root, outside }: ReturnType<typeof folders>) => {
      unlinkSync(join(root, 'sub/b.txt'))
      symlinkSync(join(outside, 'b.txt'), join(root, 'sub/b.txt'))
    },
  ],
  [
    'its folder',
    ({ root, outside }: ReturnType<typeof folders>) => {
      renameSync(join(root, 'sub'), join(root, 'old'))
      symlinkSync(outside, join(root, 'sub'))
    },
  ],
] as const) {
  test(`a link that takes the place of ${what} after the check is not followed`, async (t) => {
    const made = folders(t)
    @Controller()
    class Files {
      @Get('/', { produces: '*/*' }) async get() {
        const checked = await file('sub/b.txt', { root: made.root })
        replace(made)
        return checked
      }
    }
    const { fetch, log } = await api(t, [Files])
    const text = await fetch('/').then(
      (response) => response.text(),
      () => 'cut off',
    )
    assert.doesNotMatch(text, /outside/)
    assert.match(log.join(), /the file was replaced|ELOOP/)
  })
}

for (const root of [undefined, '', null, 5]) {
  test(`a root that is ${JSON.stringify(root)} opens nothing, and the message states what to write`, async () => {
    const message = /^file\(\): root is .*\. Write the folder of the files/
    await assert.rejects(file('package.json', { root: root as string }), { name: 'TypeError', message })
  })
}

test('a missing root is the error of the file system, as the program names it', async () => {
  await assert.rejects(file('a.txt', { root: join(tmpdir(), 'no-such-root') }), { code: 'ENOENT' })
})

test('a root beside bytes or a URL, and an unknown option, state what to write', async (t) => {
  const { root } = folders(t)
  for (const source of [Buffer.from('a'), pathToFileURL(join(root, 'a.txt'))])
    await assert.rejects(
      file(source, { root }),
      /root is only for a path, but the source is an instance of \w+\. Remove root\./,
    )
  await assert.rejects(
    file('a.txt', { rooot: root } as FileOptions),
    /file\(\) has no option 'rooot'\. Did you mean 'root'\?/,
  )
})
