// node scripts/newest-client.js <folder of @redocly/cli>
// Generates the client of example/recipes/notes.ts with another version of the generator than that of package.json, and compiles the program of the tests
// with it. Exit code 1, and the errors of the compiler, if calls have changed.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { ensureBuilt } from './built.js'

ensureBuilt()

const root = fileURLToPath(new URL('../', import.meta.url))
const generator = resolve(process.argv[2] ?? '')
const { version, bin } = manifestOf(generator)
const project = mkdtempSync(join(tmpdir(), 'sequitur-newest-client-'))
try {
  // `sequitur client` refuses other versions: this one says that it is that of the tests.
  const shown = join(project, 'node_modules/@redocly/cli')
  mkdirSync(shown, { recursive: true })
  const { version: tested } = manifestOf(join(root, 'node_modules/@redocly/cli'))
  writeFileSync(join(shown, 'package.json'), JSON.stringify({ version: tested, bin: { redocly: 'cli.mjs' } }))
  writeFileSync(
    join(shown, 'cli.mjs'),
    `import ${JSON.stringify(pathToFileURL(join(generator, bin.redocly ?? '')).href)}`,
  )
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module' }))
  copyFileSync(join(root, 'test/client/programs/generated.ts'), join(project, 'generated.ts'))

  run([join(root, 'dist/cli/main.js'), 'openapi', 'example/recipes/notes.ts', '--out', join(project, 'api.json')], root)
  run([join(root, 'dist/cli/main.js'), 'client', 'api.json', '--out', 'api.ts'])
  symlinkSync(join(root, 'node_modules/@types'), join(project, 'node_modules/@types'))
  symlinkSync(join(root, 'node_modules/undici-types'), join(project, 'node_modules/undici-types'))
  const flags = '--strict --exactOptionalPropertyTypes --noEmit --target es2023 --module nodenext --types node'
  const libraries = ['--lib', 'es2023,dom,dom.asynciterable']
  run([join(root, 'node_modules/typescript/bin/tsc'), ...flags.split(' '), ...libraries, 'generated.ts'])
  console.log(`The client of @redocly/cli ${version} has the calls of the tests.`)
} finally {
  rmSync(project, { recursive: true, force: true })
}

/** @param {string} folder @returns {{ version: string, bin: Readonly<Record<string, string>> }} */
function manifestOf(folder) {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}

/** @param {readonly string[]} parameters */
function run(parameters, cwd = project) {
  const { status } = spawnSync(process.execPath, parameters, { cwd, stdio: 'inherit' })
  if (status !== 0) throw new Error(`With @redocly/cli ${version}, not as in the tests: ${parameters.join(' ')}`)
}
