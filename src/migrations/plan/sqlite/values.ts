import type { Catalog } from '../../../db/catalog/catalog.js'
import type { ModelCatalog } from '../../catalog/model-tables.js'
import { changesOf, displayOf, displayOfColumn, isSameTable } from '../../difference/change.js'
import type { PlanContext } from '../context.js'
import type { Facts } from '../facts.js'
import { quote, quoteTable, quoteText } from '../names.js'
import { type PlacedStep, rowsText, rowsThat } from '../planned.js'

/*
 * SQLite keeps the values of an enum as texts, and does not know which there are.
 */

/** A column of the type ENUM that the database has. */
interface EnumColumn {
  /** `hero.state` */
  readonly name: string
  readonly table: string
  readonly column: string
  readonly values: readonly string[]
}

function enumColumns(database: Catalog, models: ModelCatalog): EnumColumn[] {
  return models.tables.flatMap((table) => {
    const current = database.tables.find((candidate) => isSameTable(candidate, table))
    const isThere = (column: string) => current?.columns.some(({ name }) => name === column) === true
    return Object.entries(table.enumValues ?? {}).flatMap(([column, values]) =>
      isThere(column) ? [{ name: displayOfColumn(table, column), table: displayOf(table), column, values }] : [],
    )
  })
}

function countOthers(facts: Facts, { table, values }: EnumColumn, value: string): Promise<number> {
  const list = values.map((one) => quoteText('sqlite', one)).join(', ')
  return facts.count(
    `SELECT count(*) AS count FROM ${quoteTable('sqlite', { name: table })} WHERE CAST(${value} AS TEXT) NOT IN (${list})`,
  )
}

/** Which columns have values that their ENUM does not have. */
export async function unknownValues(
  database: Catalog,
  models: ModelCatalog,
  casts: ReadonlyMap<string, string | undefined>,
  facts: Facts,
): Promise<readonly string[]> {
  const remarks: string[] = []
  for (const one of enumColumns(database, models)) {
    if (casts.has(one.name)) continue
    const rows = await countOthers(facts, one, quote('sqlite', one.column))
    if (rows > 0)
      remarks.push(
        `${one.name}: ${rowsThat(rows, 'have/has', 'a value that the model does not have')}. --cast ${one.name}="<new value as SQL>"`,
      )
  }
  return remarks
}

/** Whether the table is made again with the new value, because the type changes, too. */
function isCopied({ changes }: PlanContext, { name }: EnumColumn): boolean {
  return changesOf(changes, 'alter column').some(
    ({ table, to, parts }) => parts.includes('type') && displayOfColumn(table, to.name) === name,
  )
}

/** Writes the new values of columns whose ENUM has changed: their type is the same. */
export async function castValues(context: PlanContext): Promise<PlacedStep[]> {
  const steps: PlacedStep[] = []
  for (const one of enumColumns(context.database, context.models)) {
    const sql = context.cast({ name: one.table }, { name: one.column })?.sql
    if (sql === undefined || isCopied(context, one)) continue
    const others = await countOthers(context.facts, one, `(${sql})`)
    if (others > 0) context.problems.push(`${one.name}: by that --cast, ${rowsThat(others, 'do/does', 'not fit')}.`)
    const rows = rowsText(await context.rows({ name: one.table }))
    steps.push({
      table: one.table,
      phase: 'values',
      what: `set ${one.column} to its new value`,
      note: `writes ${rows}, nobody writes meanwhile`,
      code: {
        kind: 'sql',
        sql: `UPDATE ${context.table({ name: one.table })} SET ${context.quote(one.column)} = ${sql}`,
      },
    })
  }
  return steps
}
