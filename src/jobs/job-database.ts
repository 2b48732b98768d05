import type { Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { OwnDatabase, ownerOf } from '../db/own-tables/own-database.js'
import type { LastSession } from '../db/session/last-work.js'
import type { Session } from '../db/session/session.js'
import type { Sql } from '../db/statements/statement.js'
import type { ChangeOfSome } from './statements/dialect.js'
import { type JobStatements, jobStatements } from './statements/job-statements.js'
import { JobRecord } from './tables.js'

/** The tables of jobs in an open database. */
export class JobDatabase extends OwnDatabase {
  readonly statements: JobStatements

  /** @param mostSilence milliseconds that a transaction of the queue is waited for. */
  constructor(sequelize: Sequelize, mostSilence?: number) {
    super(sequelize, mostSilence)
    this.statements = jobStatements(this.dialect)
  }

  /** Executes a statement that changes rows. Returns how many it has changed. */
  async change(session: LastSession, statement: Sql<unknown>): Promise<number> {
    const rows = await session.executeOwn(statement)
    if (this.statements.returnsRows) return rows.length
    const [changed] = await session.executeOwn(this.statements.changedRows)
    return Number(changed?.n ?? 0)
  }

  /** Returns how many rows were changed. */
  async changeSome(session: Session, { find, change }: ChangeOfSome): Promise<number> {
    if (!find) return this.change(session, change([]))
    const ids = (await session.executeOwn(find)).map(({ id }) => String(id))
    return ids.length === 0 ? 0 : this.change(session, change(ids))
  }
}

const known = new WeakMap<Sequelize, JobDatabase>()

/** The tables of jobs in the database that {@link JobRecord} is mapped to. @throws Error if that is not open. */
export function jobDatabase(): JobDatabase {
  const { sequelize } = JobRecord
  if (!sequelize || !ownerOf(sequelize))
    throw new Error(
      'There is no table of jobs in an open database. Add JobRecord to the models of one: models: [Hero, JobRecord].',
    )
  const database = known.get(sequelize) ?? new JobDatabase(sequelize)
  known.set(sequelize, database)
  return database
}

/** The same for an app whose databases are open. @throws BootError if none of them has the tables. */
export function jobDatabaseOfApp(): JobDatabase {
  try {
    return jobDatabase()
  } catch (cause) {
    throw new BootError(
      `createApp() has jobs, and no table for them: add JobRecord, of sequitur/jobs, to its models: models: [${JobRecord.name}].`,
      { cause },
    )
  }
}
