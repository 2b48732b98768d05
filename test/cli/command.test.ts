import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { MAIN, sequitur } from '../support/command.js'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const commands = ['new', 'routes', 'openapi', 'client', 'doctor', 'work', 'jobs', 'migrate', 'models', 'upgrade']

test('sequitur --help lists every command', () => {
  const { status, stdout, stderr } = sequitur('--help')
  assert.deepEqual([status, stderr], [0, ''])
  for (const command of commands) assert.match(stdout, new RegExp(`^  ${command} +\\w`, 'm'))
})

test('sequitur --help loads no command, and no package', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-help-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const { status } = spawnSync(process.execPath, [MAIN, '--help'], {
    env: { ...process.env, NODE_V8_COVERAGE: folder },
  })
  assert.equal(status, 0)
  const [report = ''] = readdirSync(folder)
  const { result } = JSON.parse(readFileSync(join(folder, report), 'utf8')) as {
    readonly result: readonly { readonly url: string }[] // as V8 writes it
  }
  const files = result.flatMap(({ url }) => (url.startsWith('file:') ? [url] : []))
  assert.ok(files.some((url) => url.endsWith('/dist/cli/main.js')))
  assert.deepEqual(
    files.filter((url) => url.includes('/node_modules/')),
    [],
  )
  assert.ok(files.length < 12, files.join('\n'))
})

test('sequitur --version prints the version of the package', () => {
  assert.equal(sequitur('--version').stdout, `${version}\n`)
})

for (const command of commands) {
  test(`sequitur ${command} has --help and --version, and no other option`, () => {
    const help = sequitur(command, '--help')
    assert.deepEqual([help.status, help.stderr], [0, ''])
    assert.match(help.stdout, new RegExp(`^Usage: sequitur ${command}\\b.*\\n\\n\\w`))
    assert.equal(sequitur(command, '--version').stdout, `${version}\n`)
    const unknown = sequitur(command, '--hlep')
    assert.deepEqual(
      [unknown.status, unknown.stdout, unknown.stderr],
      [command === 'openapi' ? 2 : 1, '', `sequitur ${command} has no option '--hlep'. Did you mean '--help'?\n`],
    )
  })
}

for (const [words, message] of [
  [[], `Name a command: ${commands.join(', ')}.`],
  [['opnapi'], "There is no command 'opnapi'. Did you mean 'openapi'?"],
  [['constructor'], `There is no command 'constructor'. Use one of ${commands.join(', ')}.`],
  [['--verison'], "sequitur has no option '--verison'. Did you mean '--version'?"],
  [['no\u001b[2J'], `There is no command 'no\\x1b[2J'. Use one of ${commands.join(', ')}.`],
] as const) {
  test(`sequitur ${JSON.stringify(words)} exits with 1 and one line`, () => {
    const { status, stdout, stderr } = sequitur(...words)
    assert.deepEqual([status, stdout, stderr], [1, '', `${message}\n`])
  })
}
