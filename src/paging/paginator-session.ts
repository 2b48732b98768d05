import type { Model } from 'sequelize'
import { currentSession, Session } from '../db/session/session.js'
import type { Select, Sql } from '../db/statements/statement.js'
import { BootError } from '../core/boot-error.js'
import { type OptionNames, shown } from '../core/options.js'

/** Which database a paginator reads, where an app has several. */
export interface DatabaseOptions {
  /**
   * The session of the database that texts are for, where it is not the first: `audit.Session`. A model is read where it belongs.
   */
  readonly session?: typeof Session
}

/** What `DatabaseOptions` has. */
export const DATABASE_OPTIONS: OptionNames<DatabaseOptions> = { session: true }

/** What a paginator asks for. @throws BootError for what is no session's class. */
export function sessionTokenOf({ session = Session }: DatabaseOptions): typeof Session {
  if (session === Session || session?.prototype instanceof Session) return session
  throw new BootError(
    `newPagination(): session is ${shown(session)}. Write newPagination({ session: audit.Session }), with audit = newLifespan(...).`,
  )
}

/** The session that a statement is read in. */
export function sessionFor(statement: Select<Model> | Sql<unknown>, own: Session): Session {
  const { sequelize } = statement.kind === 'select' ? statement.model : own
  return (sequelize && sequelize !== own.sequelize && currentSession(sequelize)) || own
}
