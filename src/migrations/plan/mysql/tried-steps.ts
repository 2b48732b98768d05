import type { Catalog, ForeignKey, Table, TableName } from '../../../db/catalog/catalog.js'
import { type Change, changesOf, isSameTable } from '../../difference/change.js'
import type { PlanContext } from '../context.js'
import { BLOCKS_NOBODY, BLOCKS_WRITERS, PHASES, type PlacedStep, reads, rewrites } from '../planned.js'
import { ONLINE } from './keys.js'

/*
 * What the server can do in place, and while others write, depends on all that a table has, such as full texts and computed columns, on its engine, and on the
 * version. It is asked, by tables without rows.
 */

const INSTANT = 'ALGORITHM=INSTANT'

/** The steps as the server takes them; notes a problem for one that it refuses. */
export async function triedSteps(context: PlanContext, steps: readonly PlacedStep[]): Promise<PlacedStep[]> {
  const tables = copiedTables(context.database, context.changes)
  if (tables.length === 0 || context.problems.length > 0) return [...steps]
  const ordered = PHASES.flatMap((phase) => steps.filter((step) => step.phase === phase && isTried(step)))
  const results = await context.facts.tryStatements(
    tables,
    ordered.map(({ code }) => waysOf(code.sql)),
  )
  const way = (step: PlacedStep) => results?.[ordered.indexOf(step)]
  const refused = ordered.find((step) => way(step)?.error !== undefined)
  if (refused)
    context.problems.push(
      `${refused.table}: the server refuses a step: ${way(refused)?.error}. Write this migration by hand:\n${refused.code.sql}`,
    )
  return Promise.all(steps.map((step) => inWay(context, step, way(step)?.way ?? 0)))
}

/** Rows are not changed there. */
function isTried({ code }: PlacedStep): boolean {
  return code.kind !== 'batches' && !code.sql.startsWith('UPDATE')
}

/** The statement, and how else it may be executed: with more locks. */
function waysOf(sql: string): readonly string[] {
  const plain = sql.replace(new RegExp(`,? ${INSTANT}$|,? ${ONLINE.replace(',', ',?')}$`), '')
  if (plain === sql) return [sql]
  return sql.endsWith(INSTANT) ? [sql, `${plain}, ${ONLINE}`, plain] : [sql, plain]
}

async function inWay(context: PlanContext, step: PlacedStep, way: number): Promise<PlacedStep> {
  const sql = waysOf(step.code.sql)[way]
  if (way === 0 || sql === undefined) return step
  const rows = await context.rows({ name: step.table })
  const consequence = sql.endsWith(ONLINE) ? BLOCKS_NOBODY : BLOCKS_WRITERS
  const note = sql.startsWith('CREATE') ? reads(rows, consequence) : rewrites(rows, consequence)
  return { ...step, what: step.what.replace(/, online$/, ''), note, code: { ...step.code, sql } }
}

/** The tables that are changed, and those with which they have foreign keys, as the database has them. */
export function copiedTables({ tables }: Catalog, changes: readonly Change[]): readonly Table[] {
  const current = currentNames(changes)
  const changed = changes.flatMap((change) => ('table' in change ? [current(change.table)] : []))
  const named = changes.flatMap(keysOf).map(({ table }) => current(table))
  const isOneOf = (names: readonly TableName[]) => (table: TableName) => names.some((name) => isSameTable(name, table))
  const own = tables.filter(isOneOf(changed))
  const targets = own.flatMap(({ foreignKeys }) => foreignKeys.map(({ table }) => table))
  const isNeighbor = (table: Table) =>
    isOneOf([...changed, ...named, ...targets])(table) || table.foreignKeys.some((key) => isOneOf(changed)(key.table))
  return tables.filter((table) => table.kind === 'table' && isNeighbor(table))
}

function keysOf(change: Change): readonly ForeignKey[] {
  if (change.kind === 'create table') return change.table.foreignKeys
  return change.kind === 'add foreign key' || change.kind === 'replace foreign key' ? [change.foreignKey] : []
}

/** The names before the renames. */
function currentNames(changes: readonly Change[]): (table: TableName) => TableName {
  const renames = changesOf(changes, 'rename table')
  return (table) => renames.find(({ to }) => to === table.name)?.table ?? table
}
