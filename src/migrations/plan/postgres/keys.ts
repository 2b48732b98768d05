import type { Constraint, ForeignKey, Index, Table, TableName } from '../../../db/catalog/catalog.js'
import type { ChangeOf } from '../../difference/change.js'
import { displayOf } from '../../difference/change.js'
import { columnsKey, indexKey, uniqueColumns } from '../../difference/same.js'
import { refuseDuplicates, refuseOrphans } from '../checks.js'
import type { PlanContext } from '../context.js'
import { createIndex, foreignKeyText, indexText } from '../definitions.js'
import { quoteList } from '../names.js'
import { AT_ONCE, BLOCKS_WRITERS, type PlacedStep, reads, sqlStep } from '../planned.js'
import { isPartitioned, refusePartOfPartitionKey } from './partitions.js'
import { alone } from './step.js'

export async function addIndex(context: PlanContext, table: Table, index: Index): Promise<PlacedStep[]> {
  const broken = table.indexes.find(
    (old) => !old.valid && (old.name === index.name || indexKey('postgres', old) === indexKey('postgres', index)),
  )
  const name = broken?.name ?? context.freeName(index.name)
  return [
    ...(broken ? [dropBroken(context, table, broken, index)] : []),
    await newIndex(context, table, { ...index, name }),
  ]
}

async function newIndex(context: PlanContext, table: Table, index: Index): Promise<PlacedStep> {
  const columns = index.columns.flatMap(({ column }) => column ?? [])
  if (index.unique) await refusePartOfPartitionKey(context, table, columns)
  if (index.unique && index.where === undefined && columns.length === index.columns.length)
    await refuseDuplicates(context, table, columns)
  return concurrently(context, table, index)
}

/** The indexes and constraints of a column that is dropped and added again. */
export async function keysAgain(context: PlanContext, table: Table, column: string): Promise<PlacedStep[]> {
  const indexes = table.indexes.filter(({ columns, include }) =>
    [...columns.map((part) => part.column), ...include].includes(column),
  )
  const uniques = table.uniques.filter(({ columns }) => columns.includes(column))
  const again = uniques.map(({ name = '', columns }) =>
    constraintByIndex(context, table, { name, columns, kind: 'UNIQUE' }),
  )
  const steps = indexes.map((index) => concurrently(context, table, index))
  return [...(await Promise.all(steps)), ...(await Promise.all(again)).flat()]
}

function phaseOf({ unique }: Pick<Index, 'unique'>): 'uniques' | 'indexes' {
  return unique ? 'uniques' : 'indexes'
}

/** What a CREATE INDEX CONCURRENTLY that failed has left. */
function dropBroken(context: PlanContext, table: Table, { name }: Index, index: Pick<Index, 'unique'>): PlacedStep {
  return dropOf(context, table, name, phaseOf(index), 'drop the invalid index')
}

async function concurrently(context: PlanContext, table: Table, index: Index): Promise<PlacedStep> {
  const rows = await context.rows(table)
  const create = `${createIndex(index)} CONCURRENTLY IF NOT EXISTS`
  const unique = index.unique ? 'unique index' : 'index'
  if (await isPartitioned(context, table)) {
    const sql = `${createIndex(index)} IF NOT EXISTS ${indexText('postgres', table, index)}`
    return alone(table, phaseOf(index), `add ${unique} ${index.name}`, sql, reads(rows, BLOCKS_WRITERS))
  }
  return alone(
    table,
    phaseOf(index),
    `add ${unique} ${index.name}, CONCURRENTLY`,
    `${create} ${indexText('postgres', table, index)}`,
    reads(rows),
  )
}

function dropOf(
  context: PlanContext,
  table: Table,
  name: string,
  phase: PlacedStep['phase'],
  what: string,
): PlacedStep {
  const sql = `DROP INDEX CONCURRENTLY IF EXISTS ${context.table(besides(table, name))}`
  return alone(table, phase, `${what} ${name}, CONCURRENTLY`, sql, AT_ONCE)
}

/** What is in the schema of the table. */
function besides({ schema }: Table, name: string): TableName {
  return schema === undefined ? { name } : { schema, name }
}

/** The new index is there before the old one goes. */
export async function replaceIndex(
  context: PlanContext,
  { table, from, index }: ChangeOf<'replace index'>,
): Promise<PlacedStep[]> {
  const name = context.freeName(`${index.name}_new`)
  const create = await newIndex(context, table, { ...index, name })
  const phase = phaseOf(index)
  const text = context.table(besides(table, name))
  return [
    create,
    dropOf(context, table, from.name, phase, 'drop the old index'),
    sqlStep(table, phase, `rename it to ${index.name}`, `ALTER INDEX ${text} RENAME TO ${context.quote(index.name)}`),
  ]
}

export function dropIndex(context: PlanContext, { table, index }: ChangeOf<'drop index'>): PlacedStep[] {
  return [dropOf(context, table, index.name, 'drops of keys', 'drop index')]
}

export async function addUnique(
  context: PlanContext,
  table: Table,
  { name: wanted, columns }: Constraint,
): Promise<PlacedStep[]> {
  await refusePartOfPartitionKey(context, table, columns)
  await refuseDuplicates(context, table, columns)
  const name = context.freeName(wanted ?? `${table.name}_${columns.join('_')}_key`)
  return constraintByIndex(context, table, { name, columns, kind: 'UNIQUE' })
}

export async function addPrimaryKey(
  context: PlanContext,
  table: Table,
  { name: wanted, columns }: Constraint,
): Promise<PlacedStep[]> {
  await refusePartOfPartitionKey(context, table, columns)
  await refuseDuplicates(context, table, columns)
  const name = context.freeName(wanted ?? `${table.name}_pkey`)
  return constraintByIndex(context, table, { name, columns, kind: 'PRIMARY KEY' })
}

async function constraintByIndex(
  context: PlanContext,
  table: Table,
  {
    name,
    columns,
    kind,
  }: { readonly name: string; readonly columns: readonly string[]; readonly kind: 'UNIQUE' | 'PRIMARY KEY' },
): Promise<PlacedStep[]> {
  const alter = `ALTER TABLE ${context.table(table)} ADD CONSTRAINT ${context.quote(name)} ${kind}`
  if (await isPartitioned(context, table)) {
    const note = reads(await context.rows(table), BLOCKS_WRITERS)
    const list = columns.join(', ')
    return [sqlStep(table, 'uniques', `add ${kind} (${list})`, `${alter} (${quoteList('postgres', columns)})`, note)]
  }
  const broken = table.indexes.find((old) => !old.valid && columnsKey(uniqueColumns(old) ?? []) === columnsKey(columns))
  const quoted = context.quote(name)
  const create = `CREATE UNIQUE INDEX CONCURRENTLY IF NOT EXISTS ${quoted} ON ${context.table(table)} (${quoteList('postgres', columns)})`
  return [
    ...(broken ? [dropBroken(context, table, broken, { unique: true })] : []),
    alone(table, 'uniques', `add unique index ${name}, CONCURRENTLY`, create, reads(await context.rows(table))),
    sqlStep(
      table,
      'uniques',
      `make it the constraint ${kind} (${columns.join(', ')})`,
      `${alter} USING INDEX ${quoted}`,
    ),
  ]
}

export async function addForeignKey(
  context: PlanContext,
  table: Table,
  key: ForeignKey,
  name: string = context.freeName(key.name ?? `${table.name}_${key.columns.join('_')}_fkey`),
): Promise<PlacedStep[]> {
  await refuseOrphans(context, table, key)
  const add = `ALTER TABLE ${context.table(table)} ADD ${foreignKeyText('postgres', { ...key, name })}`
  if (await isPartitioned(context, table)) {
    const note = reads(await context.rows(table), BLOCKS_WRITERS)
    const what = `add foreign key ${key.columns.join(', ')} -> ${displayOf(key.table)}`
    return [sqlStep(table, 'foreign keys', what, add, note)]
  }
  const sql = `${add} NOT VALID`
  return [
    sqlStep(
      table,
      'foreign keys',
      `add foreign key ${key.columns.join(', ')} -> ${displayOf(key.table)}, NOT VALID`,
      sql,
    ),
    await validate(context, table, name),
  ]
}

async function validate(context: PlanContext, table: Table, name: string): Promise<PlacedStep> {
  const sql = `ALTER TABLE ${context.table(table)} VALIDATE CONSTRAINT ${context.quote(name)}`
  return alone(table, 'foreign keys', 'validate it', sql, reads(await context.rows(table)))
}

export async function validateForeignKey(
  context: PlanContext,
  { table, foreignKey }: ChangeOf<'validate foreign key'>,
): Promise<PlacedStep[]> {
  await refuseOrphans(context, table, foreignKey)
  const step = await validate(context, table, foreignKey.name ?? '')
  return [{ ...step, what: `validate foreign key ${foreignKey.columns.join(', ')} -> ${displayOf(foreignKey.table)}` }]
}

/** The old key goes when the new one is valid: there is always one. */
export async function replaceForeignKey(
  context: PlanContext,
  { table, from, foreignKey }: ChangeOf<'replace foreign key'>,
): Promise<PlacedStep[]> {
  const name = context.freeName(`${from.name}_new`)
  const added = await addForeignKey(context, table, foreignKey, name)
  const alter = `ALTER TABLE ${context.table(table)}`
  const old = context.quote(from.name ?? '')
  return [
    ...added,
    sqlStep(table, 'foreign keys', `drop the old key ${from.name}`, `${alter} DROP CONSTRAINT ${old}`),
    sqlStep(
      table,
      'foreign keys',
      'give the new one its name',
      `${alter} RENAME CONSTRAINT ${context.quote(name)} TO ${old}`,
    ),
  ]
}

export function dropConstraint(context: PlanContext, table: Table, { name = '' }: Constraint): PlacedStep[] {
  const sql = `ALTER TABLE ${context.table(table)} DROP CONSTRAINT ${context.quote(name)}`
  return [sqlStep(table, 'drops of keys', `drop constraint ${name}`, sql)]
}
