// node scripts/crash.js [payments|jobs] [--kills 1000] [--database sqlite|postgres|mariadb|mysql2] [--clients 8]
// payments, which is the default: clients send payments again until they have an answer, while two processes of their app are killed at random moments, and
// connections are closed by the database. At the end each payment is there exactly once.
// jobs: handlers and schedules add jobs, and three processes run them, while these are killed, and stopped for longer than their lease. At the end each job that
// was committed has its effect exactly once, and each instant of a schedule has one job. Also [--jobs 10000], and [--cut], which cuts connections to a server
// at COMMIT. For PostgreSQL, [--server-kills 20] kills the database, and [--standby] is promoted. [--limits] runs jobs with a limit instead. [--clocks] has five
// processes, four of them with clocks that are wrong by 0.9 s to 10 minutes, forward and backward.
// Exit code 1 if that is not so.
import { spawnSync } from 'node:child_process'
import { ensureBuilt } from './built.js'

ensureBuilt()

const PROGRAMS = { payments: 'test/idempotency/crash-command.ts', jobs: 'test/jobs/crash/crash-command.ts' }
const [first, ...rest] = process.argv.slice(2)
const [program, options] =
  first === 'jobs' || first === 'payments'
    ? [PROGRAMS[first], rest]
    : [PROGRAMS.payments, first === undefined ? [] : [first, ...rest]]

const hooks = ['--conditions=sequitur-source', '--import', 'tsx', '--import', 'sequitur/register']
const { status } = spawnSync(process.execPath, [...hooks, program, ...options], { stdio: 'inherit' })
process.exitCode = status ?? 1
