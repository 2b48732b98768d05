import type { Sequelize } from 'sequelize'
import { messageOf } from '../../../core/to-error.js'
import { codeOf } from '../../../db/dialect.js'

/**
 * Executes statements in a transaction that is rolled back.
 *
 * @param before what makes the tables that the statements are about, without rows.
 * @returns why the server refuses one of the statements; undefined if it takes them all, or if that cannot be tried.
 */
export async function refusalOf(
  sequelize: Sequelize,
  before: readonly string[],
  statements: readonly string[],
): Promise<string | undefined> {
  const transaction = await sequelize.transaction()
  const send = (sql: string) => sequelize.query(sql, { transaction })
  try {
    try {
      for (const sql of before) await send(sql)
    } catch {
      return undefined // as without the right to create the type of an enum
    }
    for (const sql of statements) await send(sql)
    return undefined
  } catch (error) {
    if (isRefusal(codeOf(error))) return messageOf(error)
    return undefined
  } finally {
    await transaction.rollback().catch(() => {})
  }
}

/** Of errors in SQL and in its values: not that a table is not there, or that the account has no rights, which may be so only here. */
function isRefusal(code: string): boolean {
  return /^(?:42|22)/.test(code) && code !== '42P01' && code !== '42501'
}
