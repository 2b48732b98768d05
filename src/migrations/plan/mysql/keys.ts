import type { ForeignKey, Index, Table } from '../../../db/catalog/catalog.js'
import { type ChangeOf, displayOf } from '../../difference/change.js'
import { refuseDuplicates, refuseOrphans } from '../checks.js'
import type { PlanContext } from '../context.js'
import { createIndex, foreignKeyText, indexText } from '../definitions.js'
import { quoteList } from '../names.js'
import { BLOCKS_WRITERS, type PlacedStep, reads, rewrites, sqlStep } from '../planned.js'
import { isRemade } from './keys-remade.js'

/** The server fails instead of locking the table, where it cannot do without. */
export const ONLINE = 'ALGORITHM=INPLACE, LOCK=NONE'

export async function addIndex(context: PlanContext, table: Table, index: Index): Promise<PlacedStep[]> {
  await checkUnique(context, table, index)
  const name = freeIndexName(table, index.name)
  const text = `${createIndex(index)} ${indexText(context.kind, table, { ...index, name })}`
  const what = `add ${index.unique ? 'unique index' : 'index'} ${name}`
  const phase = index.unique ? 'uniques' : 'indexes'
  const note = reads(await context.rows(table))
  if (!isOnline(index)) return [sqlStep(table, phase, what, text, note.replace('blocks nobody', BLOCKS_WRITERS))]
  return [sqlStep(table, phase, `${what}, online`, `${text} ${ONLINE.replace(',', '')}`, note)]
}

async function checkUnique(context: PlanContext, table: Table, { unique, columns }: Index): Promise<void> {
  const names = columns.flatMap(({ column, length }) => (column === undefined || length !== undefined ? [] : [column]))
  if (unique && names.length === columns.length) await refuseDuplicates(context, table, names)
}

/** Names of indexes are those of a table. */
function freeIndexName({ indexes }: Table, wanted: string): string {
  const taken = new Set(indexes.map(({ name }) => name.toLowerCase()))
  let name = wanted
  for (let number = 2; taken.has(name.toLowerCase()); number++) name = `${wanted}_${number}`
  return name
}

function isOnline({ method }: Index): boolean {
  return method !== 'fulltext' && method !== 'spatial'
}

/** In one statement: there is always one of them. */
export async function replaceIndex(
  context: PlanContext,
  { table, from, index }: ChangeOf<'replace index'>,
): Promise<PlacedStep[]> {
  await checkUnique(context, table, index)
  const text = indexText(context.kind, table, index).replace(` ON ${context.table(table)}`, '')
  const add = createIndex(index).replace('CREATE', 'ADD')
  const sql = `ALTER TABLE ${context.table(table)} DROP INDEX ${context.quote(from.name)}, ${add} ${text}`
  const note = reads(await context.rows(table))
  const what = `replace index ${from.name}`
  const phase = index.unique ? 'uniques' : 'indexes'
  return isOnline(index)
    ? [sqlStep(table, phase, `${what}, online`, `${sql}, ${ONLINE}`, note)]
    : [sqlStep(table, phase, what, sql, note.replace('blocks nobody', BLOCKS_WRITERS))]
}

export function dropIndex(context: PlanContext, { table, index: { name } }: ChangeOf<'drop index'>): PlacedStep[] {
  return [
    sqlStep(
      table,
      'drops of keys',
      `drop index ${name}`,
      `ALTER TABLE ${context.table(table)} DROP INDEX ${context.quote(name)}`,
    ),
  ]
}

export async function addPrimaryKey(
  context: PlanContext,
  table: Table,
  columns: readonly string[],
): Promise<PlacedStep[]> {
  await refuseDuplicates(context, table, columns)
  const sql = `ALTER TABLE ${context.table(table)} ADD PRIMARY KEY (${quoteList(context.kind, columns)}), ${ONLINE}`
  return [
    sqlStep(
      table,
      'uniques',
      `add primary key (${columns.join(', ')}), online`,
      sql,
      rewrites(await context.rows(table), 'blocks nobody'),
    ),
  ]
}

export async function addForeignKey(context: PlanContext, table: Table, key: ForeignKey): Promise<PlacedStep[]> {
  await refuseOrphans(context, table, key)
  const name = context.freeName(key.name ?? `${table.name}_${key.columns.join('_')}_fk`)
  const sql = `ALTER TABLE ${context.table(table)} ADD ${foreignKeyText(context.kind, { ...key, name })}`
  return [keyStep(table, key, sql, rewrites(await context.rows(table), BLOCKS_WRITERS))]
}

function keyStep(table: Table, key: ForeignKey, sql: string, note: string): PlacedStep {
  return sqlStep(
    table,
    'foreign keys',
    `add foreign key ${key.columns.join(', ')} -> ${displayOf(key.table)}`,
    sql,
    note,
  )
}

/** In one statement, unless its columns get another type: there is always one of them. */
export async function replaceForeignKey(
  context: PlanContext,
  { table, from, foreignKey }: ChangeOf<'replace foreign key'>,
): Promise<PlacedStep[]> {
  await refuseOrphans(context, table, foreignKey)
  const name = context.freeName(`${from.name}_new`)
  const added = foreignKeyText(context.kind, { ...foreignKey, name })
  const dropped = isRemade(context, table, from) ? '' : `DROP FOREIGN KEY ${context.quote(from.name ?? '')}, `
  const sql = `ALTER TABLE ${context.table(table)} ${dropped}ADD ${added}`
  return [keyStep(table, foreignKey, sql, rewrites(await context.rows(table), BLOCKS_WRITERS))]
}

export function dropForeignKey(context: PlanContext, table: Table, { name = '' }: ForeignKey): PlacedStep[] {
  const sql = `ALTER TABLE ${context.table(table)} DROP FOREIGN KEY ${context.quote(name)}`
  return [sqlStep(table, 'drops of keys', `drop foreign key ${name}`, sql)]
}
