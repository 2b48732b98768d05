import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import { messageOf } from '../../../core/to-error.js'
import type { Table } from '../../../db/catalog/catalog.js'
import { inScratchDatabase } from '../../catalog/scratch/mysql.js'
import { codeOf } from '../../../db/dialect.js'
import type { Tried } from '../facts.js'
import { quoteTable } from '../names.js'

/**
 * Executes statements, each in the first of some ways that the server takes, in a database that has the tables without their rows, and is dropped.
 *
 * @returns one for each step, up to the first that is refused; undefined where the tables cannot be made there.
 */
export function tryStatements(
  sequelize: Sequelize,
  tables: readonly Table[],
  steps: readonly (readonly string[])[],
): Promise<readonly Tried[] | undefined> {
  return inScratchDatabase(sequelize, async (transaction, database) => {
    const statements = await definitionsOf(sequelize, tables, database, transaction)
    const send = (sql: string) => sequelize.query(sql, { transaction })
    try {
      for (const statement of statements) await send(statement)
    } catch {
      return undefined // as of an engine that is read by one process
    }
    await send('SET SESSION foreign_key_checks = 1')
    const tried: Tried[] = []
    for (const ways of steps) {
      const result = await firstWay(send, ways)
      tried.push(result)
      if (result.error !== undefined) return tried
    }
    return tried
  })
}

async function definitionsOf(
  sequelize: Sequelize,
  tables: readonly Table[],
  database: string,
  transaction: Transaction,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const { name } of tables) {
    const [row] = await sequelize.query<Readonly<Record<string, unknown>>>(
      `SHOW CREATE TABLE ${quoteTable('mysql', { schema: database, name })}`,
      { type: QueryTypes.SELECT, transaction },
    )
    found.push(String(row?.['Create Table']))
  }
  return found
}

async function firstWay(send: (sql: string) => Promise<unknown>, ways: readonly string[]): Promise<Tried> {
  for (const [way, sql] of ways.entries()) {
    try {
      await send(sql)
      return { way }
    } catch (error) {
      if (ELSEWHERE.has(codeOf(error))) return { way: 0 }
      if (way === ways.length - 1 || !UNSUPPORTED.has(codeOf(error))) return { way, error: messageOf(error) }
    }
  }
  return { way: 0 }
}

const UNSUPPORTED: ReadonlySet<string> = new Set([
  'ER_ALTER_OPERATION_NOT_SUPPORTED',
  'ER_ALTER_OPERATION_NOT_SUPPORTED_REASON',
])
/** What says only that the database is another one: a table is not here, or the account has no rights on it. */
const ELSEWHERE: ReadonlySet<string> = new Set([
  'ER_NO_SUCH_TABLE',
  'ER_DBACCESS_DENIED_ERROR',
  'ER_TABLEACCESS_DENIED_ERROR',
  'ER_COLUMNACCESS_DENIED_ERROR',
])
