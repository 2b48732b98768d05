// node scripts/soak.js [--minutes 3] [--database sqlite|postgres|mariadb] [--clients 16]
// An app in a process of its own, clients of all kinds, and faults of its database in between, for some minutes. At the end the rows are those that
// clients were told of, and nothing is left: no transaction, no connection, no file, no memory. Exit code 1 if that is not so.
import { spawnSync } from 'node:child_process'

const hooks = ['--conditions=sequitur-source', '--import', 'tsx', '--import', 'sequitur/register']
const { status } = spawnSync(process.execPath, [...hooks, 'test/soak/soak.ts', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.exitCode = status ?? 1
