import { messageOf } from '../../../core/to-error.js'
import { QueryTypes, Sequelize } from 'sequelize'
import { PlanError } from '../../errors.js'
import type { SqliteObject } from '../facts.js'
import { quote } from '../names.js'

// The tables of a virtual table come with it.
const OBJECTS = `SELECT type, name, tbl_name AS "table", sql FROM sqlite_master
WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow')
ORDER BY rowid`

/** The tables, indexes, triggers and views, in the order in which they were created. */
export function objectsOf(sequelize: Sequelize): Promise<SqliteObject[]> {
  return sequelize.query<SqliteObject>(OBJECTS, { type: QueryTypes.SELECT })
}

/** Executes the statements in a database in memory that has the same tables, and no rows. @throws PlanError for one that is refused. */
export function simulate(
  objects: readonly SqliteObject[],
  statements: readonly string[],
): Promise<readonly SqliteObject[]> {
  return inCopy(objects, async (copy) => {
    await execute(copy, statements)
    return objectsOf(copy)
  })
}

/** The statements on views, and on tables with triggers, that fail only after others, each with the error. */
export function failuresAfter(
  objects: readonly SqliteObject[],
  statements: readonly string[],
): Promise<readonly string[]> {
  return inCopy(objects, async (copy) => {
    const before = new Map(await failures(copy))
    await execute(copy, statements)
    const after = await failures(copy)
    return after.flatMap(([statement, error]) => (before.has(statement) ? [] : `${statement}: ${error}`))
  })
}

/** @throws PlanError for a statement that the database would refuse, too. */
async function execute(copy: Sequelize, statements: readonly string[]): Promise<void> {
  for (const sql of statements)
    await copy.query(sql).catch((error: unknown) => {
      throw new PlanError(
        `SQLite refuses a step: ${messageOf(error).replace('SQLITE_ERROR: ', '')}. Write this migration by hand:\n${sql}`,
        {
          cause: error,
        },
      )
    })
}

async function inCopy<T>(objects: readonly SqliteObject[], work: (copy: Sequelize) => Promise<T>): Promise<T> {
  const copy = new Sequelize({ dialect: 'sqlite', storage: ':memory:', logging: false })
  try {
    await copy.query('PRAGMA foreign_keys = OFF')
    for (const { sql } of objects) await copy.query(sql)
    return await work(copy)
  } finally {
    await copy.close()
  }
}

type Failure = readonly [statement: string, error: string]

/** SQLite reads a trigger or a view only when it is used: EXPLAIN has it read without executing it. */
async function failures(copy: Sequelize): Promise<readonly Failure[]> {
  const objects = await objectsOf(copy)
  const triggered = new Set(objects.filter(({ type }) => type === 'trigger').map(({ table }) => table.toLowerCase()))
  const found: Failure[] = []
  for (const { type, name } of objects) {
    if (type === 'view') found.push(...(await failure(copy, `SELECT of ${name}`, selectText(name))))
    if ((type === 'view' || type === 'table') && triggered.has(name.toLowerCase()))
      for (const [kind, sql] of await writes(copy, name))
        found.push(...(await failure(copy, `${kind} of ${name}`, sql)))
  }
  return found
}

function selectText(name: string): string {
  return `SELECT * FROM ${quote('sqlite', name)}`
}

async function writes(copy: Sequelize, name: string): Promise<readonly (readonly [kind: string, sql: string])[]> {
  const table = quote('sqlite', name)
  const columns = await copy.query<{ readonly name: string }>(
    'SELECT name FROM pragma_table_xinfo($1) WHERE hidden = 0',
    { bind: [name], type: QueryTypes.SELECT },
  )
  const values = columns.map((column) => quote('sqlite', column.name)).map((column) => `${column} = ${column}`)
  return [
    ['INSERT', `INSERT INTO ${table} DEFAULT VALUES`],
    ['UPDATE', `UPDATE ${table} SET ${values.join(', ')}`],
    ['DELETE', `DELETE FROM ${table}`],
  ]
}

async function failure(copy: Sequelize, name: string, sql: string): Promise<readonly Failure[]> {
  try {
    await copy.query(`EXPLAIN ${sql}`)
    return []
  } catch (error) {
    return [[name, messageOf(error).replace('SQLITE_ERROR: ', '')]]
  }
}
