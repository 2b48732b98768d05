// node scripts/test-bun.js [file or folder...]
// Runs the tests of these folders on Bun, by `bun test`, one file after the other. It fails for a test that fails without being known to, and for a
// known one that passes. BUN names the program; by default it is that in PATH.
import { spawnSync } from 'node:child_process'
import { isOfCluster, testFiles } from './test-files.js'

const bun = process.env['BUN'] ?? 'bun'
const FOLDERS = ['test/di', 'test/schema', 'test/http', 'test/db', 'test/paging']
/** Milliseconds for one test: the longest one takes half a minute. */
const TEST_LIMIT = 120_000
/** Milliseconds for one file: the longest one takes a minute, and a test that never lets timers run is ended only by this. */
const FILE_LIMIT = 300_000

/**
 * The tests that fail on Bun, by a part of their names.
 * @type {Readonly<Record<string, readonly string[]>>}
 */
const KNOWN = {
  // Bun compiles the tests itself, and emits no `?` and no `| null`.
  'test/di/boot-errors.test.ts': [
    'a handler with a union fails',
    'a handler with what may be undefined fails',
    'a handler with a mere question mark fails',
    'a handler with a header with a mere question mark fails',
    'a handler with a body with a mere question mark fails',
    'every boot error names the controller',
  ],
  'test/schema/initial-values.test.ts': ["a property that is optional only by its '?' fails"],
  // The message has the advice for Bun.
  'test/di/without-metadata.test.ts': [
    'a handler without metadata fails at startup',
    'under Vitest, a handler without metadata fails',
  ],
  'test/schema/fields.test.ts': ['a field with no type fails at startup'],
  // Functions have other names.
  'test/http/middleware.test.ts': ['error middleware of four parameters fails at startup'],
  // They look into V8, which has names of functions in its coverage, or into sockets of Node, of which Bun's count no bytes that were read.
  'test/http/body.test.ts': ['of a body that is refused with 413 nothing is kept'],
  'test/http/connections.test.ts': ['a client that never reads loses its connection also where the handle'],
  'test/http/unread-body.test.ts': ['a client whose bytes have come while the process was busy'],
  'test/db/fast-path-room.test.ts': ['without it the room is used'],
  // Responses are not written as a whole on Bun.
  'test/http/whole-response.test.ts': [
    'a response that nobody else sees is written without setting its headers',
    'a tool that subscribes to the responses of the process', // docs/tools.md
  ],
  // They replace functions of Node's modules, which imports by name do not see on Bun.
  'test/db/supported-version.test.ts': [
    'a start with another version of sequelize fails',
    'a start with another version of pg fails',
  ],
  'test/paging/secret.test.ts': ['the digest of any cursor is compared in constant time'],
  // Bun's inspector does not find the variables around a function: docs/tools.md.
  'test/paging/unordered.test.ts': ['a cursor page without an order fails at startup'],
  // Their fetch is that of Bun: its errors have no cause, it accepts Brotli, and takes a response that is broken off for an empty one.
  'test/http/app.test.ts': ['a server that opens while the app closes is closed'],
  'test/http/connect-middleware.test.ts': ['compression compresses'],
  'test/http/reply.test.ts': ['a stream that the program destroys before its first bytes'],
  // Bun's parser of requests: docs/tools.md.
  'test/http/errors.test.ts': ['a header that HTTP does not allow is a 500'],
  'test/http/framing.test.ts': ['HTTP/0.9 is refused', 'HTTP/0.9 by name', 'HTTP/2.0 by name'],
  'test/http/router.test.ts': ['OPTIONS * returns what', 'an asterisk is a target of OPTIONS only'],
  'test/http/target.test.ts': ['ftp://a/admin/secrets is a 400 before', 'OPTIONS * passes middleware'],
}

const given = process.argv.slice(2)
const files = (given.length > 0 ? given : FOLDERS).flatMap(testFiles).filter((file) => !isOfCluster(file))
let [passed, known] = [0, 0]
/** @type {string[]} */
const wrong = []

for (const file of files) {
  const result = run(file)
  const { failed, output } = result
  const parts = KNOWN[file.replaceAll('\\', '/')] ?? []
  const ofFile = failed.filter((name) => parts.some((part) => name.includes(part))).length
  const problems = problemsOf(result, parts)
  if (problems.length > 0) console.log(output)
  console.log(`${file}: ${failed.length} failed, ${ofFile} of them are known`)
  passed += result.passed
  known += ofFile
  wrong.push(...problems.map((problem) => `${file}: ${problem}`))
}
console.log(`${passed} tests passed on Bun, ${known} failed as they are known to.`)
if (wrong.length > 0) {
  console.error(`\nNot as known:\n${wrong.join('\n')}`)
  process.exitCode = 1
}

/** @typedef {ReturnType<typeof run>} Result */

function run(/** @type {string} */ file) {
  const args = ['test', '--conditions=sequitur-source', `--timeout=${TEST_LIMIT}`, `./${file}`]
  const { error, status, stderr } = spawnSync(bun, args, {
    encoding: 'utf8',
    timeout: FILE_LIMIT,
    killSignal: 'SIGKILL', // apps handle the others
    maxBuffer: 2 ** 28,
  })
  const isLate = error !== undefined && 'code' in error && error.code === 'ETIMEDOUT'
  if (error && !isLate) throw error
  const summary = stderr.lastIndexOf('tests failed:') // it has the failed ones once more
  const lines = summary < 0 ? stderr : stderr.slice(0, summary)
  return {
    output: stderr,
    failed: [...lines.matchAll(/^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/gm)].map(([, name = '']) => name),
    passed: Number(/^ *(\d+) pass$/m.exec(stderr)?.[1] ?? 0),
    hasErrors: /^ *\d+ errors?$/m.test(stderr), // outside of its tests
    isLate,
    status,
  }
}

/** What is not as it is known to be. */
function problemsOf(/** @type {Result} */ result, /** @type {readonly string[]} */ parts) {
  const { failed, hasErrors, isLate, status } = result
  const problems = failed.filter((name) => !parts.some((part) => name.includes(part)))
  if (isLate) return [...problems, `took longer than ${FILE_LIMIT / 60_000} minutes`]
  if (status !== 0 && (failed.length === 0 || hasErrors)) problems.push(`ended with ${status}`)
  const mended = parts.filter((part) => !failed.some((name) => name.includes(part)))
  return [...problems, ...mended.map((part) => `passes: ${part}`)]
}
