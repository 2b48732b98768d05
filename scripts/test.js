// node scripts/test.js [--quick] [--databases] [--halves] [--node-option...] [file or folder...]
// Runs the tests, all of them when none is named, with one PostgreSQL server that they share.
// --quick runs them on SQLite in memory alone, without those that need a PostgreSQL server, start programs or wait for seconds, and ends
// with what it left out.
// --databases leaves out the files that open no database, and those that are the same on both query paths: scripts/test-files.js.
// --halves runs each file that runs on all databases, outside of test/db, with one of MariaDB's two drivers; without the fast path, on one of
// SQLite and PostgreSQL. Those of a room take turns: scripts/test-files.js.
// Those of test/cluster run only when they are named: scripts/test-cluster.js.
import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { availableParallelism, constants } from 'node:os'
import { startPostgres } from '../test/support/postgres-server.js'
import { ensureBuilt } from './built.js'
import {
  dependsOnQueryPath,
  halvesOf,
  isOfCluster,
  needsBuild,
  needsPostgres,
  startsPrograms,
  testFiles,
  waitsForSeconds,
} from './test-files.js'
import { groupsOf, writeGroups } from './test-groups.js'

const given = process.argv.slice(2)
const quick = given.includes('--quick')
const withDatabases = given.includes('--databases')
const halves = given.includes('--halves')
const own = ['--quick', '--databases', '--halves']
const options = given.filter((argument) => argument.startsWith('-') && !own.includes(argument))
const paths = given.filter((argument) => !argument.startsWith('-'))
const all = testFiles('test').filter((file) => !isOfCluster(file))
const files = (paths.length > 0 ? paths.flatMap(testFiles) : all).filter(
  (file) =>
    (!quick || !(needsPostgres(file) || startsPrograms(file) || waitsForSeconds(file))) &&
    (!withDatabases || dependsOnQueryPath(file)),
)

if (files.length === 0) {
  console.error(`There is no test (a file *.test.ts) in ${paths.join(', ') || 'test'}.`)
  process.exit(1)
}

const FIVE_MINUTES = 300_000
// With one process at a time, a waiting test would leave its core idle; with more than cores, tests of time limits are late.
const concurrency = Math.max(2, availableParallelism() - 1)

/** @type {Set<import('node:child_process').ChildProcess>} */
const running = new Set()
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  // The tests end first, then the server; a server without tests ends with this process. Always SIGTERM, because the
  // test runner dies of a SIGHUP without ending the processes of its files.
  process.on(signal, () => {
    if (running.size === 0) process.exit(128 + constants.signals[signal])
    for (const tests of running) tests.kill('SIGTERM')
  })
}

if (files.some(needsBuild)) ensureBuilt()

const server = quick || process.env['TEST_POSTGRES_URL'] ? undefined : await startPostgres()
const env = {
  ...process.env,
  ...(server && { TEST_POSTGRES_URL: server.url }),
  ...(quick && { TEST_QUICK: '1' }),
}
process.exitCode = await (options.some(isOfEachFile) ? run(files, { env, timeout: FIVE_MINUTES }) : runInGroups(env))
await server?.stop()
if (quick) console.log(leftOut())

/** Whether an option is about single files, or suites: it would find the groups instead. */
function isOfEachFile(/** @type {string} */ option) {
  return /^--test-(?:isolation|name-pattern|only|skip-pattern|timeout)\b/.test(option)
}

/**
 * Files that wait for seconds run at the same time as the others, one after the other: they need no core. With options, which may be about the output, there is one runner.
 * @returns {Promise<number>} the exit code
 */
async function runInGroups(/** @type {NodeJS.ProcessEnv} */ env) {
  const waiting = options.length === 0 ? files.filter(waitsForSeconds) : []
  const others = files.filter((file) => !waiting.includes(file))
  const halved = halves ? halvesOf(all) : new Map()
  const { folder, entries } = writeGroups(groupsOf(others, concurrency, halved))
  const second = writeGroups(groupsOf(waiting, 1, halved))
  // A file that hangs, as after a forgotten close, is ended by its group after five minutes; this ends a process that no longer does anything.
  const timeout = 3 * FIVE_MINUTES
  try {
    const codes = await Promise.all([
      entries.length > 0 ? run(entries, { env, timeout }) : 0,
      second.entries.length > 0 ? run(second.entries, { env, timeout, isSecond: entries.length > 0 }) : 0,
    ])
    return codes.find((code) => code !== 0) ?? 0
  } finally {
    rmSync(folder, { recursive: true })
    rmSync(second.folder, { recursive: true })
  }
}

/**
 * @typedef {object} RunOptions
 * @property {NodeJS.ProcessEnv} env
 * @property {number} timeout after which a file or group has failed, in milliseconds
 * @property {boolean} [isSecond] whether another one runs at the same time: this one runs its entries one after the other, and its output comes at its end
 */

/**
 * @param {readonly string[]} entries
 * @param {RunOptions} options
 * @returns {Promise<number>} the exit code
 */
function run(entries, { env, timeout, isSecond = false }) {
  const hooks = ['--conditions=sequitur-source', '--import', 'tsx', '--import', 'sequitur/register']
  const atOnce = isSecond ? 1 : concurrency
  const runner = ['--test', '--test-reporter=spec', `--test-concurrency=${atOnce}`, `--test-timeout=${timeout}`]
  // What is given replaces ours: two reporters would each ask for a destination.
  const added = runner.filter((option) => !options.some((other) => other.startsWith(option.split('=')[0] + '=')))
  const stdout = isSecond ? 'pipe' : 'inherit'
  const tests = spawn(process.execPath, [...hooks, ...added, ...options, ...entries], {
    stdio: ['inherit', stdout, 'inherit'],
    env,
  })
  running.add(tests)
  /** @type {Buffer[]} */
  const output = []
  tests.stdout?.on('data', (chunk) => output.push(chunk))
  return new Promise((resolve, reject) => {
    tests.once('error', reject)
    tests.once('close', (code, signal) => {
      running.delete(tests)
      process.stdout.write(Buffer.concat(output))
      resolve(code ?? 128 + (signal ? constants.signals[signal] : 1))
    })
  })
}

function leftOut() {
  const run = new Set(files)
  const others = all.filter((file) => !run.has(file))
  const folders = new Set(files.map(folderOf))
  const whole = new Set(others.map(folderOf).filter((folder) => !folders.has(folder)))
  const inFolders = others.filter((file) => folders.has(folderOf(file))).length
  return (
    `Left out: ${others.length} of ${all.length} files, which are ${[...whole].join(', ')}, and ${inFolders} that need PostgreSQL, start programs or wait for seconds. ` +
    'The others ran on SQLite in memory alone. `npm test` runs all files, on all databases.'
  )
}

/** `test/db/url.test.ts` -> `test/db`, `test/docs.test.ts` -> `test/docs.test.ts` */
function folderOf(/** @type {string} */ file) {
  return file.split(/[\\/]/).slice(0, 2).join('/')
}
