import type { Sequelize } from 'sequelize'
import type { Dialect } from '../dialect.js'
import { injectReplacements } from '../sequelize/replacements.js'
import { sequelizeInternals } from '../sequelize/internals.js'
import { toPlaceholders } from '../statements/statement.js'
import type { SequelizeValues, StatementSource } from '../statements/statement-source.js'

/** A statement as the driver takes it. */
export interface DriverStatement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** @param sql the text that was sent, if the source does not have it. */
export function toDriverStatement(
  sequelize: Sequelize,
  dialect: Dialect,
  sql: string,
  source: StatementSource | undefined,
): DriverStatement {
  if (!source) return { sql, values: [] }
  if ('kind' in source) return { sql: toPlaceholders(source, dialect), values: source.values }
  if ('sql' in source) return source
  return ofSequelize(sequelize, sql, source)
}

function ofSequelize(sequelize: Sequelize, sql: string, source: SequelizeValues): DriverStatement {
  const { dialect, options } = sequelizeInternals(sequelize)
  const replacements = source.replacements ?? (source.query === undefined ? undefined : source.values)
  if (replacements !== undefined) return { sql: injectReplacements(sequelize, sql, replacements), values: [] }
  if (source.bind === undefined) return { sql, values: [] }
  const [text, values = []] = dialect.Query.formatBindParameters(sql, source.bind, options.dialect)
  return { sql: text, values: Array.isArray(values) ? values : [] }
}
