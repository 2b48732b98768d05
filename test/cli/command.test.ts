import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { sequitur } from '../support/command.js'

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))
const commands = ['new', 'routes', 'openapi', 'client', 'doctor', 'work', 'jobs', 'upgrade']

test('sequitur --help lists every command', () => {
  const { status, stdout, stderr } = sequitur('--help')
  assert.deepEqual([status, stderr], [0, ''])
  for (const command of commands) assert.match(stdout, new RegExp(`^  ${command} +\\w`, 'm'))
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
