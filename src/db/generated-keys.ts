import { DatabaseError, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { type Dialect, type GeneratedKey, isLostConnection } from './dialect.js'
import { tableNameOf } from './models/table-name.js'
import { queryGeneratorOf } from './sequelize/internals.js'

/*
 * How many of its keys a table has used. A key that the database generates is the next number of a sequence, in a column of a type: after the greatest
 * number, every INSERT fails until the column is changed.
 */

/** The keys that the database generates for these models. None on databases whose keys do not run out, as those of SQLite. */
export async function generatedKeys(
  sequelize: Sequelize,
  { readKeys }: Dialect,
  models: readonly ModelStatic<Model>[],
): Promise<readonly GeneratedKey[]> {
  const columns = models.flatMap((model) => {
    const { autoIncrementAttribute: name } = model as ModelStatic<Model> & { readonly autoIncrementAttribute?: string }
    if (name == null) return []
    const table = queryGeneratorOf(sequelize).quoteTable(model.getTableName())
    return [{ table, column: model.getAttributes()[name]?.field ?? name, name: tableNameOf(model) }]
  })
  if (!readKeys || columns.length === 0) return []
  try {
    const keys = await readKeys(sequelize, columns)
    return keys.map((key) => ({ ...key, table: columns.find(({ table }) => table === key.table)?.name ?? key.table }))
  } catch (error) {
    if (error instanceof DatabaseError && !isLostConnection(error)) return [] // a right that is missing, or another kind of server
    throw error
  }
}

/** How many of the keys are used, from 0 to 1. */
export function usedShare({ last, most }: GeneratedKey): number {
  return Math.min(1, Math.max(0, last / most))
}

/** From this share on, a start warns, and `sequitur doctor` has a hint. */
const MANY = 0.75

/** What to write for the columns that have used most of their keys. */
export function adviseKeys(keys: readonly GeneratedKey[]): string[] {
  return keys
    .filter((key) => usedShare(key) >= MANY)
    .map(
      (key) =>
        `${describeKey(key)}: when all are used, every INSERT is a 503. Change the column, and those that refer to it, to BIGINT before: "Keys" in docs/production.md says how.`,
    )
}

/** `hero.id has used 81 % of the keys of integer (1,739,461,754 of 2,147,483,647)` */
export function describeKey(key: GeneratedKey): string {
  const percent = Math.floor(usedShare(key) * 100)
  const [last, most] = [key.last, key.most].map((number) => number.toLocaleString('en-US'))
  return `${key.table}.${key.column} has used ${percent} % of the keys of ${key.type} (${last} of ${most})`
}
