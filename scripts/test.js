// node scripts/test.js [--quick] [--databases] [--node-option...] [file or folder...]
// Runs the tests, all of them when none is named, beside one PostgreSQL server that they share.
// --quick runs them on SQLite in memory alone, without those that need a PostgreSQL server.
// --databases leaves out the files that open no database.
// Those of test/cluster run only when they are named: scripts/test-cluster.js.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import { dirname, join } from 'node:path'
import { startPostgres } from '../test/support/postgres-server.js'

const DATABASE = /\b(?:newLifespan|memoryDatabase|newDatabase|databaseApp|new Sequelize)\b|['/]example\//

const given = process.argv.slice(2)
const quick = given.includes('--quick')
const withDatabases = given.includes('--databases')
const options = given.filter((argument) => argument.startsWith('-') && !['--quick', '--databases'].includes(argument))
const paths = given.filter((argument) => !argument.startsWith('-'))
const files = (paths.length ? paths.flatMap(testFiles) : testFiles('test').filter((file) => !isOfCluster(file))).filter(
  (file) => (!quick || !needsPostgres(file)) && (!withDatabases || opensDatabase(file)),
)

if (files.length === 0) {
  console.error(`There is no test (a file *.test.ts) in ${paths.join(', ') || 'test'}.`)
  process.exit(1)
}

/** @type {import('node:child_process').ChildProcess | undefined} */
let tests
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  // The tests end first, then the server; a server without tests ends with this process. Always SIGTERM, because the
  // test runner dies of a SIGHUP without ending the processes of its files.
  process.on(signal, () => (tests ? tests.kill('SIGTERM') : process.exit(128 + constants.signals[signal])))
}

const server = quick || process.env['TEST_POSTGRES_URL'] ? undefined : await startPostgres()
process.exitCode = await run({
  ...process.env,
  ...(server && { TEST_POSTGRES_URL: server.url }),
  ...(quick && { TEST_QUICK: '1' }),
})
await server?.stop()

/** Node 20 has no patterns after --test. */
function testFiles(/** @type {string} */ path) {
  if (!existsSync(path)) {
    console.error(`There is no ${path}.`)
    process.exit(1)
  }
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' })
  return names
    .filter((name) => name.endsWith('.test.ts') && !name.includes('node_modules'))
    .map((name) => join(path, name))
    .sort()
}

function isOfCluster(/** @type {string} */ file) {
  return file.startsWith(join('test', 'cluster'))
}

/** Whether a test imports PostgreSQL by name; the others run on the databases that there are. */
function needsPostgres(/** @type {string} */ file) {
  return /^import [^'"]*\b(?:ownPostgres|postgres)\b[^'"]*from|from '[^']*\bpostgres\b[^']*'/m.test(
    readFileSync(file, 'utf8'),
  )
}

/** Whether a test, or a helper in its folder that it imports, opens a database. */
function opensDatabase(/** @type {string} */ file) {
  const text = readFileSync(file, 'utf8')
  const helpers = [...text.matchAll(/from '(\.[^']+)\.js'/g)]
    .map(([, path = '']) => join(dirname(file), `${path}.ts`))
    .filter((path) => path.startsWith('test') && existsSync(path))
  return [text, ...helpers.map((path) => readFileSync(path, 'utf8'))].some((source) => DATABASE.test(source))
}

/** @returns {Promise<number>} the exit code */
function run(/** @type {NodeJS.ProcessEnv} */ env) {
  // With one file at a time, a waiting test would leave its core idle.
  const concurrency = Math.max(2, availableParallelism() - 1)
  const hooks = ['--conditions=sequitur-source', '--import', 'tsx', '--import', 'sequitur/register']
  // A file that hangs, as after a forgotten close, must not hang the whole run: five minutes, then it has failed.
  const runner = ['--test', '--test-reporter=spec', `--test-concurrency=${concurrency}`, '--test-timeout=300000']
  // What is given replaces ours: two reporters would each ask for a destination.
  const own = runner.filter((option) => !options.some((other) => other.startsWith(option.split('=')[0] + '=')))
  tests = spawn(process.execPath, [...hooks, ...own, ...options, ...files], { stdio: 'inherit', env })
  return new Promise((resolve, reject) => {
    tests?.once('error', reject)
    tests?.once('exit', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 1)))
  })
}
