import { sql } from '../../db/statements/statement.js'
import { addStatements } from './add.js'
import { claimStatements } from './claim.js'
import { cleanStatements } from './clean.js'
import { cronStatements } from './cron.js'
import { JobDialect } from './dialect.js'
import { endStatements } from './ends.js'
import { leaseStatements } from './leases.js'
import { limitLockStatements, limitStatements } from './limits.js'
import { dueStatements, queueStatements } from './queues.js'
import { stepStatements } from './steps.js'

/** The SQL of the tables of jobs, in the language of one database. The states are literals: that is how partial indexes are found. */
export type JobStatements = ReturnType<typeof jobStatements>

/** @param dialect as Sequelize names it: `postgres`. */
export function jobStatements(dialect: string) {
  const on = new JobDialect(dialect)
  return {
    dialect,
    /** The time of the database, in milliseconds since 1970. */
    now: on.now,
    /** Whether a statement that changes rows returns them; else `changedRows` says how many there were. */
    returnsRows: !on.isMysql,
    changedRows: sql<{ readonly n: number | string }>`SELECT ROW_COUNT() AS n`,
    ...addStatements(on),
    ...dueStatements(on),
    ...queueStatements(on),
    ...claimStatements(on),
    ...limitLockStatements(on),
    ...limitStatements(on),
    ...endStatements(on),
    ...leaseStatements(on),
    ...cleanStatements(on),
    ...cronStatements(on),
    ...stepStatements(on),
  }
}
