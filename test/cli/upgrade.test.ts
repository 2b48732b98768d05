// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { MOVES } from '../../src/cli/upgrade/moves.js'
import { sequiturIn } from '../support/command.js'
import { newProject, workspace } from '../support/new-project.js'
import { root } from '../support/processes.js'

/** A folder with one file. */
function folderWith(text: string): { folder: string; text: () => string } {
  const folder = workspace()
  const path = join(folder, 'app.ts')
  writeFileSync(path, text)
  return { folder, text: () => readFileSync(path, 'utf8') }
}

const changes: Readonly<Record<string, readonly [before: string, after: string]>> = {
  'all names': [
    `import { BootError, InjectionError } from 'sequitur'\n`,
    `import { BootError, InjectionError } from 'sequitur/errors'\n`,
  ],
  'some names, to two doors, with other quotes and semicolons': [
    `import {Get, BootError, type EventMessages, Post} from "sequitur";\n`,
    `import {Get, Post} from "sequitur";\nimport {BootError} from "sequitur/errors";\nimport {type EventMessages} from "sequitur/diagnostics";\n`,
  ],
  'aliases, and import type': [
    `import type { Trace as Span, Session } from 'sequitur'\nimport { ReadOnlyError as Refused } from 'sequitur'\n`,
    `import type { Session } from 'sequitur'\nimport type { Trace as Span } from 'sequitur/diagnostics'\nimport { ReadOnlyError as Refused } from 'sequitur/errors'\n`,
  ],
  'an import of the new door is there': [
    `import { BootError, Get } from 'sequitur'\nimport { CommitUnknownError } from 'sequitur/errors'\n`,
    `import { Get } from 'sequitur'\nimport { CommitUnknownError, BootError } from 'sequitur/errors'\n`,
  ],
  'a name that is imported from both doors': [
    `import { BootError } from 'sequitur'\nimport { BootError } from 'sequitur/errors'\n`,
    `import { BootError } from 'sequitur/errors'\n`,
  ],
  'several lines, with a comma at their end': [
    `import {\n    BootError,\n    Controller,\n    Get,\n    Post,\n} from 'sequitur'\n`,
    `import {\n    Controller,\n    Get,\n    Post,\n} from 'sequitur'\nimport { BootError } from 'sequitur/errors'\n`,
  ],
  'an export from the package': [
    `export { BootError, Session } from 'sequitur'\n`,
    `export { Session } from 'sequitur'\nexport { BootError } from 'sequitur/errors'\n`,
  ],
  'lines that end with CR LF': [
    `import { BootError, Get } from 'sequitur'\r\nGet()\r\n`,
    `import { Get } from 'sequitur'\r\nimport { BootError } from 'sequitur/errors'\r\nGet()\r\n`,
  ],
}

for (const [name, [before, after]] of Object.entries(changes)) {
  test(`sequitur upgrade: ${name}; a second time changes nothing`, () => {
    const { folder, text } = folderWith(before)
    const found = sequiturIn(folder, {}, 'upgrade', '--check')
    assert.deepEqual([found.status, text()], [1, before])
    assert.equal(sequiturIn(folder, {}, 'upgrade').status, 0)
    assert.equal(text(), after)
    for (const words of [['upgrade'], ['upgrade', '--check']]) {
      const again = sequiturIn(folder, {}, ...words)
      assert.deepEqual([again.status, again.stdout, text()], [0, 'Nothing to change in 1 file.\n', after])
    }
  })
}

test('sequitur upgrade prints each change with its line, as docs/cli.md shows it', () => {
  const { folder } = folderWith(
    `import { Get } from 'sequitur'\n\nimport { BootError, type Trace } from 'sequitur'\nconst { ReadOnlyError } = await import('sequitur')\n`,
  )
  const { stdout } = sequiturIn(folder, {}, 'upgrade')
  const page = readFileSync(join(root, 'docs/cli.md'), 'utf8')
  assert.ok(page.includes(`$ npx sequitur upgrade\n${stdout}`), stdout)
})

const leftToPeople: Readonly<Record<string, readonly [text: string, line: string]>> = {
  'a comment between the names': [
    `import {\n  BootError, // why\n  Get,\n} from 'sequitur'\n`,
    '1  BootError: exported by sequitur/errors (the import has a comment)',
  ],
  'a namespace': [
    `import * as sequitur from 'sequitur'\n\nthrow new sequitur.BootError('')\n`,
    '3  BootError: exported by sequitur/errors',
  ],
  'a dynamic import': [
    `const { Get, BootError: Wrong } = await import('sequitur')\n`,
    '1  BootError: exported by sequitur/errors',
  ],
  'require()': [`const { BootError } = require("sequitur")\n`, '1  BootError: exported by sequitur/errors'],
  'the type of an import': [`\nlet trace: import('sequitur').Trace\n`, '2  Trace: exported by sequitur/diagnostics'],
}

for (const [name, [text, line]] of Object.entries(leftToPeople)) {
  test(`sequitur upgrade leaves ${name} as it is, and says where it is`, () => {
    const found = folderWith(text)
    const { stdout, status } = sequiturIn(found.folder, {}, 'upgrade')
    assert.deepEqual([status, stdout], [0, `Left to you in 1 file:\n  app.ts:${line}\n`])
    assert.equal(found.text(), text)
    assert.equal(sequiturIn(found.folder, {}, 'upgrade', '--check').status, 1)
  })
}

for (const text of [
  `import { Get, Session } from 'sequitur'\n`,
  `import { BootError } from './errors.js'\nimport { Trace } from 'other'\n`,
  `// import { BootError } from 'sequitur'\n`,
  `import { BootError } from 'sequitur/errors'\n`,
  '',
]) {
  test(`sequitur upgrade has nothing to change in ${JSON.stringify(text)}`, () => {
    const found = folderWith(text)
    assert.equal(sequiturIn(found.folder, {}, 'upgrade').stdout, 'Nothing to change in 1 file.\n')
    assert.equal(found.text(), text)
  })
}

test('what has moved is exported by its new door, and not by the old one', () => {
  const textOf = (door: string) =>
    readFileSync(join(root, 'src', `${door === 'sequitur' ? 'index' : door.replace('sequitur/', '')}.ts`), 'utf8')
  for (const { from, to, names } of MOVES)
    for (const name of names) {
      const exported = new RegExp(`[{,]\\s*(?:type )?(?:\\w+ as )?${name}\\s*[,}]`)
      assert.match(textOf(to), exported, name)
      assert.doesNotMatch(textOf(from), exported, name)
    }
})

test('a program that imports all that has moved compiles after sequitur upgrade', () => {
  const project = newProject('my-api')
  const compile = () =>
    spawnSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc')], { cwd: project, encoding: 'utf8' })
  const names = MOVES.filter(({ from }) => from === 'sequitur').flatMap((move) => move.names)
  mkdirSync(join(project, 'src/old'))
  writeFileSync(
    join(project, 'src/old/all.ts'),
    `import { Get, type ${names.join(', type ')} } from 'sequitur'\nexport type All = [${names.join(', ')}]\nexport { Get }\n`,
  )
  assert.match(compile().stdout, /error TS/)
  assert.equal(sequiturIn(project, {}, 'upgrade').status, 0)
  assert.deepEqual([compile().stdout, compile().status], ['', 0])
})

test('sequitur upgrade reads no packages, no built files, and changes nothing that is not committed', () => {
  const { folder, text } = folderWith(`import { Get } from 'sequitur'\n`)
  const old = `import { BootError } from 'sequitur'\n`
  for (const path of ['node_modules/other', 'dist', '.cache']) {
    mkdirSync(join(folder, path), { recursive: true })
    writeFileSync(join(folder, path, 'old.ts'), old)
  }
  assert.equal(sequiturIn(folder, {}, 'upgrade').stdout, 'Nothing to change in 1 file.\n')

  const git = (...words: string[]) =>
    spawnSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...words], { cwd: folder })
  writeFileSync(join(folder, '.gitignore'), 'node_modules\ndist\n.cache\n')
  git('init')
  writeFileSync(join(folder, 'app.ts'), old)
  const refused = sequiturIn(folder, {}, 'upgrade')
  assert.deepEqual([refused.status, refused.stdout, text()], [1, '', old])
  assert.match(refused.stderr, /^Some files have changes that are not committed\. [^\n]*--force\.\n$/)
  assert.equal(sequiturIn(folder, {}, 'upgrade', '--check').status, 1)
  git('add', '.')
  git('commit', '-m', 'all')
  assert.equal(sequiturIn(folder, {}, 'upgrade').status, 0)
  assert.equal(text(), `import { BootError } from 'sequitur/errors'\n`)
  writeFileSync(join(folder, 'app.ts'), old)
  assert.equal(sequiturIn(folder, {}, 'upgrade', '--force').status, 0)
  assert.equal(text(), `import { BootError } from 'sequitur/errors'\n`)
})

test('sequitur upgrade needs a folder, and knows its options', () => {
  const errorOf = (...words: string[]) => sequiturIn(workspace(), {}, 'upgrade', ...words).stderr
  assert.equal(errorOf('src'), 'src is not a folder. Name the folder of your program: sequitur upgrade src\n')
  assert.match(errorOf('--chek'), /^sequitur upgrade has no option '--chek'\. Did you mean '--check'\?\n$/)
  assert.match(errorOf('a', 'b'), /'b' is one argument too many/)
})
