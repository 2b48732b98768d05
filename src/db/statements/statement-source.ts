import type { Sql } from './statement.js'
import type { CompiledStatement } from '../direct-statement.js'

/** The first argument of Sequelize's `query()`, or its options: whichever has the values. */
export interface SequelizeValues {
  readonly query?: unknown
  readonly bind?: unknown
  /** The replacements, next to `query`. */
  readonly values?: unknown
  readonly replacements?: unknown
}

/** The source of a statement, with its values. */
export type StatementSource = Pick<CompiledStatement<unknown>, 'sql' | 'values' | 'generated'> | Sql | SequelizeValues
