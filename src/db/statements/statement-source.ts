import type { CompiledStatement } from './compiled/compiled-select.js'
import type { Sql } from './statement.js'

/** The first argument of Sequelize's `query()`, or its options: whichever has the values. */
export interface SequelizeValues {
  readonly query?: unknown
  readonly bind?: unknown
  /** Beside `query`: the replacements. */
  readonly values?: unknown
  readonly replacements?: unknown
}

/** What a statement was made of, with its values. */
export type StatementSource = Pick<CompiledStatement<unknown>, 'sql' | 'values'> | Sql | SequelizeValues
