// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { cpSync, readdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { execFileSync, spawnSync } from 'node:child_process'
import { root, temporaryFolder } from '../support/processes.js'

/*
 * An expected failure at startup names the line of the program, wherever the package and the program are: compiled, in a folder with a space,
 * or in one bundle.
 */

const requireOfTsx = createRequire(createRequire(import.meta.url).resolve('tsx'))
const esbuild = join(requireOfTsx.resolve('esbuild/package.json'), '../bin/esbuild')

const core = fileURLToPath(new URL('../../src/core', import.meta.url))

/** A program whose fifth line calls a function of the package that throws a StartupError. */
function programUsing(options: string): string {
  return `import { refuseUnknownOptions } from '${options}'
const known = { right: true }
async function start() {
  await undefined
  refuseUnknownOptions('start()', { wrong: 1 }, known)
}
await start()
`
}

function compile(...args: readonly string[]): void {
  execFileSync(esbuild, ['--format=esm', '--log-level=error', ...args], { cwd: root })
}

function errorOf(...args: readonly string[]): string {
  const { stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(stderr, /^start\(\) has no option 'wrong'\./)
  return stderr.trimEnd()
}

test('the line of a program is found where the path of the package has a space', () => {
  const folder = temporaryFolder()
  const files = readdirSync(core)
    .filter((name) => name.endsWith('.ts'))
    .map((name) => join(core, name))
  compile(...files, `--outdir=${join(folder, 'the package/dist/core')}`)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const app = join(folder, 'the app.js')
  writeFileSync(app, programUsing('./the%20package/dist/core/options.js'))
  assert.equal(errorOf(app).split('\n').at(-1), `    at ${app}:5:3`)
})

test('the line of a program is found where the package is bundled, as it is published', () => {
  const folder = temporaryFolder()
  const bundled = ['options.ts', 'startup-error.ts'].map((name) => join(core, name))
  compile(
    ...bundled,
    '--bundle',
    '--splitting',
    '--platform=node',
    '--chunk-names=sequitur-[hash]',
    `--outdir=${join(folder, 'dist/core')}`,
  )
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const app = join(folder, 'app.js')
  writeFileSync(app, programUsing('./dist/core/options.js'))
  assert.equal(errorOf(app).split('\n').at(-1), `    at ${app}:5:3`)
})

test('the line of a program is found under a top-level await', () => {
  const app = join(temporaryFolder(), 'app.mjs')
  writeFileSync(
    app,
    `import { createApp, newLifespan } from '${new URL('../../src/index.ts', import.meta.url).href}'
const app = createApp({ controllers: [], lifespan: newLifespan('sqlite:////nowhere/a/b') })
await app.listen(0)
`,
  )
  const { stderr } = spawnSync(process.execPath, ['--import', 'tsx', app], { cwd: root, encoding: 'utf8' })
  assert.match(stderr, /^Cannot reach the database /)
  assert.equal(stderr.trimEnd().split('\n').at(-1), `    at ${app}:3:1`)
})

test('the line of a bundled program is found by its source map; without one there is none', () => {
  const folder = temporaryFolder()
  cpSync(core, join(folder, 'node_modules/sequitur/core'), { recursive: true })
  const [source, bundle] = [join(folder, 'app.ts'), join(folder, 'dist/app.mjs')]
  writeFileSync(source, programUsing('sequitur/core/options.ts'))
  compile(source, '--bundle', '--platform=node', '--sourcemap=inline', `--outfile=${bundle}`)
  assert.equal(errorOf('--enable-source-maps', bundle).split('\n').at(-1), `    at ${source}:5:3`)
  assert.doesNotMatch(errorOf(bundle), /\n {4}at /)
})
