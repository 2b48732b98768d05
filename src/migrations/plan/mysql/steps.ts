import type { ForeignKey, Table } from '../../../db/catalog/catalog.js'
import { changesOf } from '../../difference/change.js'
import type { PlanContext } from '../context.js'
import { commentText, createIndex, createTableText, creationOrder, foreignKeyText, indexText } from '../definitions.js'
import { dropTables } from '../dropped-tables.js'
import { type Phase, type PlacedStep, sqlStep } from '../planned.js'
import { SAME_STEPS, stepsOfChanges, type StepsByKind } from '../steps-of-changes.js'
import { uniqueIndex } from '../unique-index.js'
import { addColumn, alterColumn, dropColumn, dropColumnParts } from './columns.js'
import {
  addForeignKey,
  addIndex,
  addPrimaryKey,
  dropForeignKey,
  dropIndex,
  replaceForeignKey,
  replaceIndex,
} from './keys.js'
import { indexesOfKeys } from './keys-indexes.js'
import { refersToAltered, remakeKeys } from './keys-remade.js'
import { refuseReaders } from './readers.js'
import { triedSteps } from './tried-steps.js'

/** The steps on MySQL and MariaDB: none locks a table, unless its note says so. */
export async function mysqlSteps(context: PlanContext): Promise<PlacedStep[]> {
  await refuseReaders(context)
  return triedSteps(context, [
    ...newTables(context),
    ...(await indexesOfKeys(context)),
    ...(await remakeKeys(context)),
    ...(await stepsOfChanges(context, KINDS)),
    ...dropTables(context, dropForeignKey),
  ])
}

function newTables(context: PlanContext): PlacedStep[] {
  const ordered = creationOrder(changesOf(context.changes, 'create table').map(({ table }) => table))
  const isLater = (key: ForeignKey) => refersToAltered(context, key)
  return [
    ...ordered.flatMap(({ table, own }) =>
      newTable(
        context,
        table,
        own.filter((key) => !isLater(key)),
      ),
    ),
    ...ordered.flatMap(({ table, own, later }) => [
      ...later.map((key) => keyOfNewTable(context, table, key, 'tables')),
      ...own.filter(isLater).map((key) => keyOfNewTable(context, table, key, 'foreign keys')),
    ]),
  ]
}

function keyOfNewTable(context: PlanContext, table: Table, key: ForeignKey, phase: Phase): PlacedStep {
  const what = `add foreign key ${key.columns.join(', ')} -> ${key.table.name}`
  return sqlStep(table, phase, what, `ALTER TABLE ${context.table(table)} ADD ${foreignKeyText(context.kind, key)}`)
}

function newTable({ kind }: PlanContext, table: Table, foreignKeys: Table['foreignKeys']): PlacedStep[] {
  const comment = table.comment === undefined ? '' : ` COMMENT = ${commentText(kind, table.comment)}`
  const what = `create table, ${table.columns.length} columns`
  return [
    sqlStep(table, 'tables', what, `${createTableText(kind, table, { foreignKeys })}${comment}`),
    ...table.indexes.map((index) =>
      sqlStep(table, 'tables', `add index ${index.name}`, `${createIndex(index)} ${indexText(kind, table, index)}`),
    ),
  ]
}

const KINDS: StepsByKind = {
  ...SAME_STEPS,
  'comment table': (context, { table, comment }) => [
    sqlStep(
      table,
      'columns',
      'comment',
      `ALTER TABLE ${context.table(table)} COMMENT = ${commentText(context.kind, comment)}`,
    ),
  ],
  'add column': (context, { table, column }) => addColumn(context, table, column),
  'alter column': alterColumn,
  'drop column parts': dropColumnParts,
  'drop column': dropColumn,
  'change primary key': (context, { table, key }) => addPrimaryKey(context, table, key.columns),
  'add unique': (context, { table, unique }) => addIndex(context, table, uniqueIndex(table, unique.columns)),
  'add index': (context, { table, index }) => addIndex(context, table, index),
  'replace index': replaceIndex,
  'drop index': dropIndex,
  'add foreign key': (context, { table, foreignKey }) => addForeignKey(context, table, foreignKey),
  'replace foreign key': replaceForeignKey,
  'drop foreign key': (context, { table, foreignKey }) => dropForeignKey(context, table, foreignKey),
}
