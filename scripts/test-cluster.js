// node scripts/test-cluster.js [--node-option...] [file...]
// Runs the tests of test/cluster, which start clusters of several database servers on this machine, one file after the other.
// A file whose programs are not installed is skipped, with a line that names them.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const given = process.argv.slice(2)
const hasFiles = given.some((argument) => !argument.startsWith('-'))
const options = ['--test-concurrency=1', '--test-timeout=1200000', ...given, ...(hasFiles ? [] : ['test/cluster'])]
const { status } = spawnSync(process.execPath, [fileURLToPath(new URL('test.js', import.meta.url)), ...options], {
  stdio: 'inherit',
})
process.exitCode = status ?? 1
