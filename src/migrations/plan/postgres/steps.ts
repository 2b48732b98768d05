import type { Change } from '../../difference/change.js'
import type { PlanContext } from '../context.js'
import { dropTables } from '../dropped-tables.js'
import { type PlacedStep, sqlStep } from '../planned.js'
import { SAME_STEPS, stepsOfChanges, type StepsByKind } from '../steps-of-changes.js'
import { dropColumn, dropColumnParts } from './column-drops.js'
import { addColumn, alterColumn } from './columns.js'
import {
  addForeignKey,
  addIndex,
  addPrimaryKey,
  addUnique,
  dropConstraint,
  dropIndex,
  replaceForeignKey,
  replaceIndex,
  validateForeignKey,
} from './keys.js'
import { refuseReadersOfTables } from './readers.js'
import { commentOn } from './step.js'
import { newTables } from './tables.js'
import { addEnumValue, createEnum } from './types.js'

/** The steps on PostgreSQL: none locks a table for long, unless its note says so. */
export async function postgresSteps(context: PlanContext): Promise<PlacedStep[]> {
  await refuseReadersOfTables(context)
  return [
    ...newTables(context),
    ...(await stepsOfChanges(context, KINDS, inOrderOfDrops(context.changes))),
    ...dropTables(context, dropConstraint),
  ]
}

/** A computed column is dropped before the columns that it reads. */
function inOrderOfDrops(changes: readonly Change[]): readonly Change[] {
  const place = (change: Change) => (change.kind === 'drop column' && change.column.generated ? 0 : 1)
  return changes.toSorted((one, other) => place(one) - place(other))
}

const KINDS: StepsByKind = {
  ...SAME_STEPS,
  'create enum': createEnum,
  'add enum value': (context, change) => [addEnumValue(context, change)],
  'drop enum': (context, { type }) => [
    sqlStep(type, 'drops of types', 'drop type', `DROP TYPE ${context.table(type)}`),
  ],
  'comment table': (context, { table, comment }) => [
    sqlStep(table, 'columns', 'comment', commentOn(`TABLE ${context.table(table)}`, comment)),
  ],
  'add column': (context, { table, column }) => addColumn(context, table, column),
  'alter column': alterColumn,
  'drop column parts': dropColumnParts,
  'drop column': dropColumn,
  'change primary key': (context, { table, key }) => addPrimaryKey(context, table, key),
  'add unique': (context, { table, unique }) => addUnique(context, table, unique),
  'drop unique': (context, { table, unique }) => dropConstraint(context, table, unique),
  'add index': (context, { table, index }) => addIndex(context, table, index),
  'replace index': replaceIndex,
  'drop index': dropIndex,
  'add foreign key': (context, { table, foreignKey }) => addForeignKey(context, table, foreignKey),
  'replace foreign key': replaceForeignKey,
  'validate foreign key': validateForeignKey,
  'drop foreign key': (context, { table, foreignKey }) => dropConstraint(context, table, foreignKey),
}
