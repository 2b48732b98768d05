// node scripts/test-bun.js [file or folder...]
// Runs the tests of these folders on Bun, by `bun test`, one file after the other. It fails for a test that fails without being known to, and for a
// known one that passes. BUN names the program; by default it is that in PATH.
import { spawnSync } from 'node:child_process'
import { isOfCluster, testFiles } from './test-files.js'

const bun = process.env['BUN'] ?? 'bun'
const FOLDERS = ['test/di', 'test/schema', 'test/http', 'test/db', 'test/paging']
const FIVE_MINUTES = 300_000

/**
 * The tests that fail on Bun, by the beginning of their names.
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
  // They look into V8 or into sockets of Node, or mind how Node writes.
  'test/http/body.test.ts': ['of a body that is refused with 413 nothing is kept'],
  'test/http/connections.test.ts': ['a client that never reads loses its connection also where the handle'],
  'test/http/whole-response.test.ts': [
    'responses to the first request of a connection have the same bytes',
    'a response that nobody else sees is written without setting its headers',
    'a tool that subscribes to the responses of the process',
  ],
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
  const args = ['test', '--conditions=sequitur-source', `--timeout=${FIVE_MINUTES}`, `./${file}`]
  const { error, status, stderr } = spawnSync(bun, args, {
    encoding: 'utf8',
    timeout: 3 * FIVE_MINUTES,
    maxBuffer: 2 ** 28,
  })
  if (error) throw error
  const summary = stderr.lastIndexOf('tests failed:') // it has the failed ones once more
  const lines = summary < 0 ? stderr : stderr.slice(0, summary)
  const failed = [...lines.matchAll(/^\(fail\) (.*?)(?: \[[\d.]+m?s\])?$/gm)].map(([, name = '']) => name)
  const expected = KNOWN[file.replaceAll('\\', '/')] ?? []
  const unexpected = failed.filter((name) => !expected.some((start) => name.startsWith(start)))
  const mended = expected.filter((start) => !failed.some((name) => name.startsWith(start)))
  passed += Number(/^\s*(\d+) pass$/m.exec(stderr)?.[1] ?? 0)
  known += failed.length - unexpected.length
  wrong.push(...unexpected.map((name) => `${file}: ${name}`), ...mended.map((name) => `${file}: passes: ${name}`))
  if (status !== 0 && failed.length === 0) wrong.push(`${file}: ended with ${status}`)
  if (unexpected.length > 0 || (status !== 0 && failed.length === 0)) console.log(stderr)
  console.log(`${file}: ${failed.length} failed, ${failed.length - unexpected.length} of them are known`)
}
console.log(`${passed} tests passed on Bun, ${known} failed as they are known to.`)
if (wrong.length > 0) {
  console.error(`\nNot as known:\n${wrong.join('\n')}`)
  process.exitCode = 1
}
