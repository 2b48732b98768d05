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
  'feeds.js',
  'migrations.js',
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
  const { outputs } = await split({ write: false })
  const whole = Object.entries(outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint !== undefined && entryPoint !== 'index.js' && loads(outputs, path, 'sequelize')
      ? join(dist, entryPoint)
      : [],
  )
  const written = await split({ whole: new Set(whole) })
  return new Set(Object.keys(written.outputs).map((path) => join(path)))
}

/**
 * Each set of entries has a file with the modules that exactly these entries need. The entries that load Sequelize load all of index.js: without that, its modules
 * are in more than seventy files. The others load what they need: `sequitur --help` and sequitur/errors are fast.
 *
 * @param {{ write?: boolean, whole?: ReadonlySet<string> }} options
 */
async function split({ write = true, whole = new Set() }) {
  const { metafile } = await build({
    absWorkingDir: dist,
    entryPoints: ENTRIES,
    outdir: dist,
    allowOverwrite: true,
    write,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'esnext',
    packages: 'external',
    plugins: [
      { name: 'register', setup: (build) => build.onResolve({ filter: /\/register\/[\w-]+\.js$/ }, external) },
      {
        name: 'whole',
        setup: (build) =>
          build.onLoad({ filter: /\.js$/ }, ({ path }) => (whole.has(path) ? withIndex(path) : undefined)),
      },
    ],
    // In src/core and in dist/core, import.meta.url has the same depth: see src/core/package-copies.ts and src/core/startup-error.ts.
    chunkNames: 'core/sequitur-[hash]',
    sourcemap: true,
    ignoreAnnotations: true, // "sideEffects" of package.json is for programs; here every module is needed
    metafile: true,
    logLevel: 'warning',
  })
  return metafile
}

/** At its end, where it moves no line of the source map. */
function withIndex(/** @type {string} */ path) {
  return { contents: `${readFileSync(path, 'utf8')}\nimport ${JSON.stringify(join(dist, 'index.js'))}\n` }
}

/**
 * Whether importing a file loads a package.
 * @param {import('esbuild').Metafile['outputs']} outputs
 * @param {string} path
 * @param {string} name
 * @param {Set<string>} seen
 * @returns {boolean}
 */
function loads(outputs, path, name, seen = new Set()) {
  if (path === name) return true
  if (seen.has(path)) return false
  seen.add(path)
  const imports = outputs[path]?.imports ?? []
  return imports.some(({ kind, path }) => kind === 'import-statement' && loads(outputs, path, name, seen))
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
