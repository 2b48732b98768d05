import type { Model } from 'sequelize'
import { currentSession, Session } from '../db/session/session.js'
import type { Select, Sql } from '../db/statements/statement.js'
import { BootError } from '../core/boot-error.js'
import { type OptionChecks, unchecked } from '../core/option-checks.js'
import { shown } from '../core/options.js'

/** The database of a paginator, for apps with several. */
export interface DatabaseOptions {
  /** The session class of the database for raw SQL, if it is not the first: `audit.Session`. Models are read from their own database. */
  readonly session?: typeof Session
}

export const DATABASE_OPTIONS: OptionChecks<DatabaseOptions> = { session: unchecked }

/** The session that a paginator injects. @throws BootError for an option that is not a class of sessions. */
export function sessionTokenOf({ session = Session }: DatabaseOptions): typeof Session {
  if (session === Session || session?.prototype instanceof Session) return session
  throw new BootError(
    `newPagination(): session must be a class of sessions, got ${shown(session)}. Write newPagination({ session: audit.Session }), with audit = newLifespan(...).`,
  )
}

/** The session that executes a statement: that of its model's database, if one is open. */
export function sessionFor(statement: Select<Model> | Sql<unknown>, injected: Session): Session {
  const { sequelize } = statement.kind === 'select' ? statement.model : injected
  return (sequelize && sequelize !== injected.sequelize && currentSession(sequelize)) || injected
}
