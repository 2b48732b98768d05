// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { GROUPS, llmsText } from '../scripts/llms.js'
import { SCRIPTS } from '../src/cli/new/manifest.js'

const root = fileURLToPath(new URL('..', import.meta.url))

const pages = [
  ...readdirSync(root).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? `docs/${name}` : [])),
  'example/README.md',
]

/** Files of the reader's own project. */
const OF_READERS = new Set([
  ...['app', 'database', 'main', 'migrate', 'note', 'notes'].map((name) => `src/${name}.ts`),
  'test/notes.test.ts',
  'src/models',
])

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8')
}

interface Link {
  /** Relative to the root of the repository; of a link within a page, the page. */
  readonly file: string
  readonly anchor: string | undefined
}

/** The links and pictures of a page that lead to this repository. */
function linksIn(page: string): Link[] {
  const prose = read(page).replaceAll(/^```.*?^```/gms, '')
  return [...prose.matchAll(/\]\(([^)#:]*)(?:#([^)]+))?\)/g)].map(([, target = '', anchor]) => ({
    file: target === '' ? page : join(dirname(page), target),
    anchor,
  }))
}

/** The anchors that GitHub gives to the headings of a page: `## The log` has `the-log`. */
function anchorsOf(page: string): string[] {
  const headings = read(page)
    .replaceAll(/^```.*?^```/gms, '')
    .matchAll(/^#+ (.+)$/gm)
  return [...headings].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\s-]/g, '')
      .replaceAll(' ', '-'),
  )
}

test('a file that CONTRIBUTING.md names without its folder exists in the source, or in the folder of its row', () => {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const rows = read('CONTRIBUTING.md').split('\n')
  const missing = rows.flatMap((row) => {
    const [, folder = ''] = /^\| `src\/([\w/]+)` \|/.exec(row) ?? []
    const inFolder = files.filter((file) => file.startsWith(folder)).map((file) => basename(file))
    return [...row.matchAll(/`([\w-]+\.ts)`/g)].map(([, name = '']) => name).filter((name) => !inFolder.includes(name))
  })
  assert.deepEqual(missing, [])
})

for (const page of pages) {
  test(`the files that ${page} names in code exist`, () => {
    const named = [...read(page).matchAll(/`((?:src|test|example|bench|scripts|docs)\/[\w./-]*)`/g)]
    const saved = new Set([...read(page).matchAll(/^Save it as `([^`]+)`/gm)].map(([, name]) => name))
    const exists = (name: string) =>
      saved.has(name) || existsSync(join(root, name)) || existsSync(join(root, dirname(page), name))
    assert.deepEqual(
      named.map(([, name = '']) => name).filter((name) => !OF_READERS.has(name) && !exists(name)),
      [],
    )
  })

  test(`the links of ${page} lead to files and headings that exist`, () => {
    const broken = linksIn(page).filter(
      ({ file, anchor }) =>
        !existsSync(join(root, file)) || (anchor !== undefined && !anchorsOf(file).includes(anchor)),
    )
    assert.deepEqual(broken, [])
  })
}

test('every page of docs/ is linked from the README', () => {
  const linked = new Set(linksIn('README.md').map(({ file }) => file))
  assert.deepEqual(
    pages.filter((page) => page.startsWith('docs/') && !linked.has(page)),
    [],
  )
})

test('llms.txt is what npm run llms writes, and lists every page of docs/', () => {
  assert.equal(read('llms.txt'), llmsText())
  const listed = new Set(linksIn('llms.txt').map(({ file }) => file))
  assert.deepEqual(
    [...pages, ...listed].filter(
      (page) => (page.startsWith('docs/') && !listed.has(page)) || !existsSync(join(root, page)),
    ),
    [],
  )
})

test('the README has at most 160 lines', () => {
  assert.ok(read('README.md').split('\n').length <= 161)
})

test('packed pages link only to packed files', () => {
  const report = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'], {
    cwd: root,
    encoding: 'utf8',
  })
  const [{ files }] = JSON.parse(report) as [{ files: readonly { path: string }[] }]
  const packed = files.map(({ path }) => path)
  const missing = packed
    .filter((path) => path.endsWith('.md'))
    .flatMap((page) => linksIn(page).map(({ file }) => ({ page, file: file.replace(/\/$/, '') })))
    .filter(({ file }) => !packed.some((path) => path === file || path.startsWith(`${file}/`)))
  assert.deepEqual(missing, [])
  for (const page of pages) assert.ok(packed.includes(page), `${page} is not packed`)
})

interface Block {
  readonly page: string
  readonly code: string
  /** The file that the line before the block links to; empty without such a line. */
  readonly file: string
}

/** Lines before the code of other frameworks, which the guides for moving from them compare with ours. */
const OF_OTHERS = new Set(['NestJS:', 'Express:', 'BullMQ:'])

const FENCED = /^([^\n]*)\n\n?```(?:ts|typescript|js)\n(.*?)^```$/gms

function blocksIn(page: string): Block[] {
  const own = [...read(page).matchAll(FENCED)].filter(([, before = '']) => !OF_OTHERS.has(before))
  return own.map(([, before = '', code = '']) => {
    const target = /^\[`[^`]+`\]\(([^)]+)\):$/.exec(before)?.[1]
    return { page, code, file: target === undefined ? '' : join(dirname(page), target) }
  })
}

const IMPORT = /^(?:import|export) (?!type )(?:[^'"]* from )?'(\.[^']+)'|\bimport\('(\.[^']+)'\)/gm
const PROGRAM = /'(example\/[\w./-]+\.ts)'/g

/** What the tests run: the files that they import, the programs that they start, and what these import. */
function filesRunByTests(): ReadonlySet<string> {
  const found = new Set<string>()
  const visit = (file: string) => {
    if (found.has(file) || !existsSync(join(root, file))) return
    found.add(file)
    const text = read(file)
    for (const [, declared, dynamic] of text.matchAll(IMPORT))
      visit(join(dirname(file), (declared ?? dynamic ?? '').replace(/\.js$/, '.ts')))
    if (file.startsWith('test/')) for (const [, program = ''] of text.matchAll(PROGRAM)) visit(program)
  }
  for (const name of readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' }))
    if (name.endsWith('.test.ts') && !name.includes('node_modules')) visit(`test/${name}`)
  return found
}

const blocks = pages.flatMap(blocksIn)

test('every block of TypeScript is the whole file that the line before it links to', () => {
  assert.ok(blocks.length >= pages.length)
  const fences = pages.flatMap(
    (page) => read(page).match(/(?<!^(?:NestJS|Express|BullMQ):\n\n)^```(?:ts|typescript|js)$/gm) ?? [],
  )
  assert.equal(blocks.length, fences.length)
  for (const { page, file, code } of blocks) {
    assert.ok(file.startsWith('example/'), `${page}: no link to a file of example/ before the block\n${code}`)
    assert.equal(code, read(file), `${page}: the block is not ${file}`)
  }
})

test('every block of TypeScript is run by a test', () => {
  const run = filesRunByTests()
  assert.deepEqual(
    blocks.filter(({ file }) => !run.has(file)).map(({ page, file }) => `${page}: ${file}`),
    [],
  )
})

test('every program of example/ is run by a test', () => {
  const run = filesRunByTests()
  const programs = readdirSync(join(root, 'example'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !/^\.|(?:^|\/)migrations\//.test(name))
    .map((name) => `example/${name}`)
  assert.deepEqual(
    programs.filter((file) => !run.has(file)),
    [],
  )
})

test('the npm scripts that pages name exist', () => {
  const { scripts } = JSON.parse(read('package.json')) as { readonly scripts: Readonly<Record<string, string>> }
  const ofNewProjects: Readonly<Record<string, string>> = SCRIPTS
  const named = pages.flatMap((page) => [...read(page).matchAll(/npm (?:run )?(start|test|(?<=run )[\w:-]+)/g)])
  assert.deepEqual(
    named.map(([, name = '']) => name).filter((name) => !scripts[name] && !ofNewProjects[name]),
    [],
  )
})

const MOST_LINES = 36

for (const page of GROUPS.Guides) {
  test(`docs/${page}.md begins with a program of up to ${MOST_LINES} lines`, () => {
    const [start = ''] = read(`docs/${page}.md`).split(/^## /m)
    const [, code = ''] = /^```ts\n([^]*?)^```$/m.exec(start) ?? []
    const lines = code.split('\n').length - 1
    assert.ok(lines > 0 && lines <= MOST_LINES, `${lines} lines`)
  })
}
