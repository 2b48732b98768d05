// node scripts/crash.js [--kills 1000] [--database sqlite|postgres|mariadb|mysql2] [--clients 8]
// Clients send payments again until they have an answer, while two processes of their app are killed at random moments, and connections are closed by
// the database. At the end each payment is there exactly once. Exit code 1 if that is not so.
import { spawnSync } from 'node:child_process'
import { ensureBuilt } from './built.js'

ensureBuilt()

const hooks = ['--conditions=sequitur-source', '--import', 'tsx', '--import', 'sequitur/register']
const { status } = spawnSync(
  process.execPath,
  [...hooks, 'test/idempotency/crash-command.ts', ...process.argv.slice(2)],
  {
    stdio: 'inherit',
  },
)
process.exitCode = status ?? 1
