import type { ForeignKey, Index, Table } from '../../../db/catalog/catalog.js'
import { changesOf, displayOf, isSameTable } from '../../difference/change.js'
import { displayOfKey } from '../../difference/choices.js'
import type { PlanContext } from '../context.js'
import { keysTo, optionToDrop } from '../dropped-tables.js'
import type { PlacedStep } from '../planned.js'
import { addIndex } from './keys.js'

/** The indexes that foreign keys need once their own are dropped or replaced: the server refuses to drop the last one of a key. */
export async function indexesOfKeys(context: PlanContext): Promise<PlacedStep[]> {
  const changes = changesOf(context.changes, 'drop column', 'drop index', 'replace index')
  const tables = new Map(changes.map(({ table }) => [displayOf(table), table]))
  const steps: PlacedStep[] = []
  for (const table of tables.values()) {
    refuseNeeded(context, table)
    for (const columns of columnsWithoutIndex(context, table)) steps.push(...(await indexStep(context, table, columns)))
  }
  return steps
}

/** Notes a problem for each index that nothing can replace: another one would be the same again, or the key is one of another table, whose rows it finds. */
function refuseNeeded(context: PlanContext, table: Table): void {
  const { going, remaining, droppedIndexes, droppedKeys } = changesOfTable(context, table)
  const own = table.foreignKeys.filter(({ name }) => !droppedKeys.includes(name))
  const needs = [
    ...own.map((key) => ({
      key,
      of: table,
      columns: key.columns,
      indexes: droppedIndexes.filter(isOnly(key.columns)),
    })),
    // Those of tables that are dropped, too: these are dropped after the indexes.
    ...keysTo(context, table).map(({ key, of }) => ({ key, of, columns: key.references, indexes: going })),
  ]
  for (const { key, of, columns, indexes } of needs) {
    if (remaining.some((names) => serves(names, columns))) continue
    for (const index of indexes.filter((one) => serves(namesOf(one), columns)))
      context.problems.push(
        `${displayOfKey(table, index)}: the foreign key ${key.columns.join(', ')} -> ${displayOf(key.table)} of ${displayOf(of)} needs this index. Drop that first: ${optionToDrop({ key, of })}`,
      )
  }
}

/** Whether an index is one of these columns alone, and does nothing else. */
function isOnly(names: readonly string[]): (index: Index) => boolean {
  return ({ unique, columns }) =>
    !unique &&
    columns.length === names.length &&
    serves(
      columns.map(({ column }) => column),
      names,
    )
}

async function indexStep(context: PlanContext, table: Table, columns: readonly string[]): Promise<PlacedStep[]> {
  const name = `${table.name}_${columns.join('_')}`
  const parts = columns.map((column) => ({ column, descending: false }))
  const index: Index = { name, unique: false, method: 'btree', columns: parts, include: [], valid: true }
  const isReplaced = changesOf(context.changes, 'replace index').some((change) => isSameTable(change.table, table))
  const phase = isReplaced ? 'uniques' : 'drops of keys'
  return (await addIndex(context, table, index)).map((step) => ({ ...step, phase }))
}

/** The columns of the keys that lose their index. */
function columnsWithoutIndex(context: PlanContext, table: Table): readonly (readonly string[])[] {
  const { going, remaining, droppedKeys, droppedColumns } = changesOfTable(context, table)
  const isLeft = ({ name, columns }: ForeignKey) =>
    !droppedKeys.includes(name) && !columns.some((column) => droppedColumns.includes(column))
  const lost = table.foreignKeys
    .filter(isLeft)
    .map(({ columns }) => columns)
    .filter((columns) => going.some((index) => serves(namesOf(index), columns)))
    .filter((columns) => !remaining.some((names) => serves(names, columns)))
  return [...new Map(lost.map((columns) => [JSON.stringify(columns), columns])).values()]
}

function changesOfTable({ changes }: PlanContext, table: Table) {
  const own = changes.filter((change) => 'table' in change && isSameTable(change.table, table))
  const droppedColumns = changesOf(own, 'drop column').map(({ column }) => column.name)
  const replaced = changesOf(own, 'replace index')
  const droppedIndexes = changesOf(own, 'drop index').map(({ index }) => index)
  const going = [
    ...droppedIndexes,
    ...replaced.map(({ from }) => from),
    ...table.indexes.filter(({ columns }) => columns.some(({ column = '' }) => droppedColumns.includes(column))),
  ]
  const kept = table.indexes.filter(({ name }) => !going.some((index) => index.name === name))
  const coming = [...changesOf(own, 'add index'), ...replaced].map(({ index }) => index)
  const added = changesOf(own, 'add unique').map(({ unique }) => unique.columns)
  return {
    droppedIndexes,
    going,
    /** The columns of the primary key, and of each index that there is afterwards. */
    remaining: [table.primaryKey?.columns ?? [], ...[...kept, ...coming].map(namesOf), ...added],
    droppedKeys: changesOf(own, 'drop foreign key').map(({ foreignKey }) => foreignKey.name),
    droppedColumns,
  }
}

function namesOf({ columns }: Index): readonly (string | undefined)[] {
  return columns.map(({ column, length }) => (length === undefined ? column : undefined))
}

/** Whether an index begins with the columns of a key. */
function serves(names: readonly (string | undefined)[], columns: readonly string[]): boolean {
  return columns.every((column, index) => names[index] === column)
}
