// node scripts/crash.js [payments|jobs|feeds|migrations] [--kills 1000] [--database sqlite|postgres|mariadb|mysql2] [--clients 8]
// payments, which is the default: clients send payments again until they have an answer, while two processes of their app are killed at random moments, and
// connections are closed by the database. At the end each payment is there exactly once.
// jobs: handlers and schedules add jobs, and three processes run them, while these are killed, and stopped for longer than their lease. At the end each job that
// was committed has its effect exactly once, and each instant of a schedule has one job. Also [--jobs 10000], and [--cut], which cuts connections to a server
// at COMMIT. For PostgreSQL, [--server-kills 20] kills the database, and [--standby] is promoted. [--limits] runs jobs with a limit instead. [--clocks] has five
// processes, four of them with clocks that are wrong by 0.9 s to 10 minutes, forward and backward.
// feeds: handlers publish events to several topics, and 50 clients follow these through a proxy that cuts them, while three processes are killed. At the end each client
// has received what was committed, in the order of the commits. Also [--events 10000] [--writers 8] [--followers 50] [--processes 3], and --cut, --server-kills and
// --standby as for jobs, --server-kills also for MariaDB, of which it starts a server. For example: feeds --database postgres --events 50000 --kills 40
// migrations: processes that migrate a new database are killed, or their connections cut, at any statement, until one comes to the end. Each database is the same then as
// one on which nothing was stopped. [--kills 100], or on a server [--each], which cuts the connection before, after and at the answer of each message; mariadb and
// mysql2 need TEST_MARIADB_URL.
// Exit code 1 if that is not so.
import { spawnSync } from 'node:child_process'
import { ensureBuilt } from './built.js'

ensureBuilt()

const PROGRAMS = {
  payments: 'test/idempotency/crash-command.ts',
  jobs: 'test/jobs/crash/crash-command.ts',
  feeds: 'test/feeds/crash/crash-command.ts',
  migrations: 'test/migrations/crash/crash-command.ts',
}
const [first, ...rest] = process.argv.slice(2)
const [program, options] =
  first === 'jobs' || first === 'payments' || first === 'feeds' || first === 'migrations'
    ? [PROGRAMS[first], rest]
    : [PROGRAMS.payments, first === undefined ? [] : [first, ...rest]]

const hooks = ['--conditions=sequitur-source', '--import', 'tsx', '--import', 'sequitur/register']
const { status } = spawnSync(process.execPath, [...hooks, program, ...options], { stdio: 'inherit' })
process.exitCode = status ?? 1
