import type { Sequelize } from 'sequelize'
import { loadLater } from '../../core/memo.js'
import { sequelizeInternals } from './internals.js'

const sqlUtils = loadLater<{ injectReplacements(sql: string, dialect: object, replacements: unknown): string }>(
  'sequelize/lib/utils/sql',
)

/** The SQL with the values of Sequelize's option `replacements` in it, as Sequelize sends it. */
export function injectReplacements(sequelize: Sequelize, sql: string, replacements: unknown): string {
  return sqlUtils().injectReplacements(sql, sequelizeInternals(sequelize).dialect, replacements)
}
