import type { Column, Index, Table } from '../../../db/catalog/catalog.js'
import { type Change, changesOf, displayOf, displayOfColumn, isSameTable } from '../../difference/change.js'
import { castOf } from '../casts.js'
import { backfillOf, isRequired, refuseDuplicates, refuseOrphans } from '../checks.js'
import type { PlanContext } from '../context.js'
import { columnText, createIndex, createTableText, creationOrder, indexText, typeText } from '../definitions.js'
import { dropTables } from '../dropped-tables.js'
import type { SqliteObject } from '../facts.js'
import { quoteList } from '../names.js'
import { BLOCKS_WRITERS, type Phase, PHASES, type PlacedStep, reads, rewrites, sqlStep } from '../planned.js'
import { SAME_STEPS, stepsOfChanges, type StepsByKind } from '../steps-of-changes.js'
import { uniqueIndex } from '../unique-index.js'
import { type ColumnUses, usesOf } from './column-uses.js'
import { type Copy, rebuildSteps } from './rebuild.js'
import { castValues } from './values.js'

/** The steps on SQLite: what it cannot change in a table makes the table again, once for all of its changes. */
export async function sqliteSteps(context: PlanContext): Promise<PlacedStep[]> {
  const direct = [
    ...newTables(context),
    ...(await castValues(context)),
    ...(await stepsOfChanges(context, KINDS)),
    ...dropTables(context),
  ]
  // New indexes come after a table is made again.
  const early = direct.filter(({ phase }) => EARLY.includes(phase))
  const main = await rebuilds(context, early, [
    ...context.changes.filter((change) => isRebuild(context, change) && !isDrop(change)),
    ...optionalUntilThen(context),
  ])
  const drops = await rebuilds(
    context,
    // Tables are dropped after it.
    [...direct.filter(({ phase }) => phase !== 'drops of tables'), ...main],
    context.changes.filter((change) => isRebuild(context, change) && isDrop(change)),
  )
  const steps = [...direct, ...main, ...drops]
  const isChanged = main.length + drops.length + changesOf(context.changes, 'drop table').length > 0
  if (context.problems.length === 0 && isChanged) await refuseFailures(context, steps)
  return steps
}

/** Columns that are dropped later become nullable: the new version of the program adds rows without them. */
function optionalUntilThen({ changes }: PlanContext): Change[] {
  return changesOf(changes, 'drop column')
    .filter(({ table, column }) => isRequired(table, column))
    .map(({ table, column: from }) => {
      const to = { ...from, nullable: true }
      return { kind: 'alter column', table, from, to, parts: ['nullable'] }
    })
}

/** SQLite makes a trigger or a view that reads what is not there, and fails when it is used. */
async function refuseFailures({ facts, problems }: PlanContext, steps: readonly PlacedStep[]): Promise<void> {
  const failures = await facts.failuresAfter(inOrder(steps).map(({ code }) => code.sql))
  problems.push(...failures.map((failure) => `${failure}, after this migration. Change the triggers and views first.`))
}

function newTables(context: PlanContext): PlacedStep[] {
  const tables = changesOf(context.changes, 'create table').map(({ table }) => table)
  // A key may refer to a table that is made later.
  return creationOrder(tables).flatMap(({ table }) => [
    sqlStep(
      table,
      'tables',
      `create table, ${table.columns.length} columns`,
      createTableText('sqlite', table, { foreignKeys: table.foreignKeys }),
    ),
    ...table.indexes.map((index) =>
      sqlStep(table, 'tables', `add index ${index.name}`, `${createIndex(index)} ${indexText('sqlite', table, index)}`),
    ),
  ])
}

function isDrop({ kind }: Change): boolean {
  return kind.startsWith('drop ')
}

/** Whether SQLite makes the table again for the change. */
function isRebuild(context: PlanContext, change: Change): boolean {
  switch (change.kind) {
    case 'drop column':
    case 'drop column parts':
    case 'alter column':
    case 'replace foreign key':
    case 'drop foreign key':
    case 'drop unique':
    case 'change primary key':
      return true
    case 'add column':
      return !mayAdd(change.column)
    case 'add foreign key':
      return !isKeyOfNewColumn(context, change)
    default:
      return false
  }
}

/** Whether ADD COLUMN takes the column: its value in all rows is a constant. */
function mayAdd({ nullable, default: text, generated }: Column): boolean {
  if (generated) return !generated.stored
  if (text === undefined) return nullable
  return !text.startsWith('(') && !text.toUpperCase().startsWith('CURRENT_')
}

/** Whether the foreign key is added together with its column. */
function isKeyOfNewColumn(
  { changes }: PlanContext,
  { table, foreignKey: { columns } }: Extract<Change, { kind: 'add foreign key' }>,
): boolean {
  const [name, second] = columns
  return (
    second === undefined &&
    changesOf(changes, 'add column').some(
      (change) =>
        isSameTable(change.table, table) &&
        change.column.name === name &&
        mayAdd(change.column) &&
        change.column.default === undefined,
    )
  )
}

/** What needs no new table. */
const KINDS: StepsByKind = {
  ...SAME_STEPS,
  'add column': (context, { table, column }) => (mayAdd(column) ? [addColumn(context, table, column)] : []),
  'add index': (context, { table, index }) => addIndex(context, table, index),
  'replace index': async (context, { table, index }) => [
    dropIndex(context, table, index, 'uniques'),
    ...(await addIndex(context, table, index, index.name)),
  ],
  'drop index': (context, { table, index }) => [dropIndex(context, table, index, 'drops of keys')],
  'add unique': (context, { table, unique }) => addIndex(context, table, uniqueIndex(table, unique.columns)),
}

function addColumn(context: PlanContext, table: Table, column: Column): PlacedStep {
  const key = changesOf(context.changes, 'add foreign key').find(
    (change) =>
      isSameTable(change.table, table) &&
      change.foreignKey.columns[0] === column.name &&
      isKeyOfNewColumn(context, change),
  )?.foreignKey
  const text = columnText('sqlite', column)
  const references = key ? ` ${referencesText(context, key)}` : ''
  return sqlStep(
    table,
    'columns',
    `add column ${text}${references}`,
    `ALTER TABLE ${context.table(table)} ADD COLUMN ${text}${references}`,
  )
}

function referencesText(context: PlanContext, key: Table['foreignKeys'][number]): string {
  const actions = [
    key.onDelete === 'NO ACTION' ? '' : ` ON DELETE ${key.onDelete}`,
    key.onUpdate === 'NO ACTION' ? '' : ` ON UPDATE ${key.onUpdate}`,
    key.deferrable === undefined ? '' : ` DEFERRABLE INITIALLY ${key.deferrable.toUpperCase()}`,
  ]
  return `REFERENCES ${context.table(key.table)} (${quoteList('sqlite', key.references)})${actions.join('')}`
}

async function addIndex(
  context: PlanContext,
  table: Table,
  index: Index,
  name: string = context.freeName(index.name),
): Promise<PlacedStep[]> {
  if (index.unique && index.where === undefined && index.columns.every(({ column }) => column !== undefined))
    await refuseDuplicates(
      context,
      table,
      index.columns.flatMap(({ column }) => column ?? []),
    )
  const what = `add ${index.unique ? 'unique index' : 'index'} ${name}`
  const sql = `${createIndex(index)} ${indexText('sqlite', table, { ...index, name })}`
  return [
    sqlStep(
      table,
      index.unique ? 'uniques' : 'indexes',
      what,
      sql,
      reads(await context.rows(table)).replace('blocks nobody', BLOCKS_WRITERS),
    ),
  ]
}

function dropIndex(context: PlanContext, table: Table, { name }: Index, phase: Phase): PlacedStep {
  return sqlStep(table, phase, `drop index ${name}`, `DROP INDEX ${context.quote(name)}`)
}

/** The tables that are made again for some changes, once each. */
async function rebuilds(
  context: PlanContext,
  before: readonly PlacedStep[],
  changes: readonly Change[],
): Promise<PlacedStep[]> {
  const steps: PlacedStep[] = []
  const tables = new Map(
    changes.flatMap((change) => ('table' in change ? [[displayOf(change.table), change.table] as const] : [])),
  )
  for (const [name, table] of tables) {
    const own = changes.filter((change) => 'table' in change && displayOf(change.table) === name)
    const copies = await copiesOf(context, own)
    if (context.problems.length > 0) continue
    const done = inOrder([...before, ...steps]).map(({ code }) => code.sql)
    const objects = await context.facts.simulate(done)
    const uses = await usesOfDropped(context, done, objects, table, own)
    const note = rewrites(await context.rows(table), BLOCKS_WRITERS)
    steps.push(
      ...rebuildSteps({
        table,
        changes: own,
        copies,
        objects,
        uses,
        note,
        phase: own.some(isDrop) ? 'drops of columns' : 'values',
      }),
    )
  }
  return steps
}

/** Notes a problem if something that remains names a column that is dropped. */
async function usesOfDropped(
  context: PlanContext,
  before: readonly string[],
  objects: readonly SqliteObject[],
  table: Table,
  changes: readonly Change[],
): Promise<ColumnUses | undefined> {
  const columns = changesOf(changes, 'drop column').map(({ column }) => column)
  if (columns.length === 0) return undefined
  const uses = await usesOf(context.facts, before, objects, table, columns)
  const losing = changesOf(context.changes, 'drop table', 'drop column', 'drop foreign key')
  const isLosing = (user: string) => losing.some((change) => user === `table ${change.table.name}`)
  const left = uses.kept.filter((user) => !isLosing(user))
  const names = columns.map(({ name }) => displayOfColumn(table, name)).join(', ')
  if (left.length > 0)
    context.problems.push(`--drop ${names}: ${left.join(', ')} would fail without it. Change that first.`)
  return uses
}

const EARLY: readonly Phase[] = ['renames', 'tables', 'columns']

function inOrder(steps: readonly PlacedStep[]): PlacedStep[] {
  return PHASES.flatMap((phase) => steps.filter((one) => one.phase === phase))
}

/** How columns get their values in the new table; notes the problems. */
async function copiesOf(context: PlanContext, changes: readonly Change[]): Promise<Copy[]> {
  const copies: Copy[] = []
  for (const change of changes) {
    const copy = await copyOf(context, change)
    if (copy) copies.push(copy)
  }
  return copies
}

async function copyOf(context: PlanContext, change: Change): Promise<Copy | undefined> {
  if (change.kind === 'add foreign key' || change.kind === 'replace foreign key')
    await refuseOrphans(context, change.table, change.foreignKey)
  if (change.kind === 'change primary key') await refuseDuplicates(context, change.table, change.key.columns)
  if (change.kind === 'add column') {
    const { table, column } = change
    const needsValue = !column.nullable && column.default === undefined && !column.generated
    const value = needsValue ? await backfillOf(context, table, column, undefined) : undefined
    return typeof value === 'string' ? { column: column.name, value, isNew: true } : undefined
  }
  return change.kind === 'alter column' ? copyOfAltered(context, change) : undefined
}

async function copyOfAltered(
  context: PlanContext,
  change: Extract<Change, { kind: 'alter column' }>,
): Promise<Copy | undefined> {
  const { table, from, to, parts } = change
  const name = context.quote(to.name)
  if (parts.includes('expression') && !(from.generated && to.generated))
    context.problems.push(
      `${displayOfColumn(table, to.name)}: a column with ${typeText(from)} cannot become one that is computed, or the other way round. Write this migration by hand.`,
    )
  const cast = parts.includes('type') ? await castOf(context, change) : undefined
  const fill = parts.includes('nullable') && !to.nullable ? await backfillOf(context, table, to, from) : undefined
  const value = cast?.sql === undefined ? name : `(${cast.sql})`
  if (typeof fill === 'string') return { column: to.name, value: `coalesce(${value}, ${fill})` }
  return cast?.sql === undefined ? undefined : { column: to.name, value }
}
