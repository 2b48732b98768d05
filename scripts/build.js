// Compiles src into dist, from nothing, so that no file of a former build is published. The compiled files are bundled: hundreds of small ones
// take three times as long to import as a few. What several doors of the package need is in files that they share, so that each class exists once.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../', import.meta.url))
const dist = join(root, 'dist')

/** The doors. The load hook, dist/register.js and dist/register, is left as it is: Node loads its files by their URLs, also in other threads. */
const ENTRIES = [
  'index.js',
  'cursor.js',
  'errors.js',
  'diagnostics.js',
  'lists.js',
  'settings.js',
  'testing.js',
  'uploads.js',
  'conditional.js',
  'idempotency.js',
  'jobs.js',
  'exports.js',
  'tenancy.js',
  'opentelemetry.js',
  'metrics.js',
  'vite.js',
  'esbuild.js',
  'cli/main.js',
]

rmSync(dist, { recursive: true, force: true })
process.exitCode = compile()
if (process.exitCode === 0) {
  const written = await bundle()
  removeAllBut(written)
  refuseRenamedClasses(written)
}

/** @returns {number} the exit code of the compiler */
function compile() {
  const typescript = dirname(createRequire(import.meta.url).resolve('typescript/package.json'))
  const compiler = [join(typescript, 'bin', 'tsc'), '-p', 'tsconfig.build.json']
  const { status, error } = spawnSync(process.execPath, compiler, { cwd: root, stdio: 'inherit' })
  if (error) throw error
  return status ?? 1
}

/** @returns {Promise<ReadonlySet<string>>} the files that it has written */
async function bundle() {
  const { metafile } = await build({
    absWorkingDir: dist,
    entryPoints: ENTRIES,
    outdir: dist,
    allowOverwrite: true,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    packages: 'external',
    plugins: [{ name: 'register', setup: (build) => build.onResolve({ filter: /\/register\/[\w-]+\.js$/ }, external) }],
    // In src/core and in dist/core, import.meta.url has the same depth: see src/core/package-copies.ts and src/core/startup-error.ts.
    chunkNames: 'core/sequitur-[hash]',
    sourcemap: true,
    ignoreAnnotations: true, // "sideEffects" of package.json is for programs; here every module is needed
    metafile: true,
    logLevel: 'warning',
  })
  return new Set(Object.keys(metafile.outputs).map((path) => join(path)))
}

/** @param {{ path: string }} imported */
function external({ path }) {
  return { path, external: true }
}

function removeAllBut(/** @type {ReadonlySet<string>} */ written) {
  for (const path of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
    const isCompiled = /\.js(?:\.map)?$/.test(path) && !path.startsWith('register')
    if (isCompiled && !written.has(path)) rmSync(join(dist, path))
  }
}

/**
 * Messages and logs have the names of classes. The bundler changes that of a class which refers to itself, unless by `this` in a static method,
 * and that of a second class of the same name.
 */
function refuseRenamedClasses(/** @type {ReadonlySet<string>} */ written) {
  const src = join(root, 'src')
  const sources = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  const known = new Set(sources.flatMap((path) => classesIn(readFileSync(join(src, path), 'utf8'))))
  for (const path of written) {
    if (!path.endsWith('.js')) continue
    const renamed = classesIn(readFileSync(join(dist, path), 'utf8')).filter((name) => !known.has(name))
    if (renamed.length > 0)
      throw new Error(`The bundler has renamed classes: ${renamed}. Change their source, see above.`)
  }
}

/** The names of the classes that begin a line, `class Hero {`, `export class Hero {`, `var Hero = class {` or `var Hero = class _Hero {`. */
function classesIn(/** @type {string} */ text) {
  const declared = text.matchAll(/^(?:export )?(?:abstract )?(?:(?:var|const) (\w+) = )?class (\w+)?/gm)
  return Array.from(declared, ([, variable, name]) => (name === 'extends' ? variable : (name ?? variable)) ?? '')
}
