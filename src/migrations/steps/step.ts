import type { Session } from '../../db/session/session.js'
import type { Sql } from '../../db/statements/statement.js'
import type { DatabaseKind, TableName } from '../../db/catalog/catalog.js'

/** One statement. Where tables are changed in transactions, it is in one with the steps before and after it, up to a {@link CommitStep}. */
export interface SqlStep {
  readonly kind: 'sql'
  readonly statement: Sql
}

/** A statement outside of transactions; made by {@link steps.alone}. */
export interface AloneStep {
  readonly kind: 'alone'
  readonly statement: Sql
  /** Returns a row once the statement was executed. */
  readonly done?: Sql | undefined
  /** Whether the step before is executed again where rows refuse the statement. */
  readonly again?: boolean | undefined
}

/** A statement about the rows of a table, some at a time; made by {@link steps.batches}. */
export interface BatchesStep {
  readonly kind: 'batches'
  readonly table: string | TableName
  readonly key: string
  /** How many rows are in a batch. */
  readonly size: number
  readonly statement: Sql
}

/** Work of the program; made by {@link steps.run}. */
export interface RunStep {
  readonly kind: 'run'
  readonly work: (session: Session) => Promise<unknown>
}

/** The end of a transaction; made by {@link steps.commit}. */
export interface CommitStep {
  readonly kind: 'commit'
}

export type Step = SqlStep | AloneStep | BatchesStep | RunStep | CommitStep

/** What a migration file exports by default; made by {@link steps}. */
export interface Migration {
  readonly kind: 'migration'
  /** The database in whose SQL the steps are written. */
  readonly database: DatabaseKind
  readonly steps: readonly Step[]
}
