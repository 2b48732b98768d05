import type { EnumType } from '../../../db/catalog/catalog.js'
import type { ChangeOf } from '../../difference/change.js'
import { isTypeOf } from '../../difference/columns.js'
import type { PlanContext } from '../context.js'
import { quoteText } from '../names.js'
import { AT_ONCE, type PlacedStep, sqlStep } from '../planned.js'
import { alone } from './step.js'

const text = (value: string) => quoteText('postgres', value)

export function enumText(context: PlanContext, type: EnumType, name: string = context.table(type)): string {
  return `CREATE TYPE ${name} AS ENUM (${type.values.map(text).join(', ')})`
}

/** A type of this name that no column has is in the way, and is dropped. */
export function createEnum(context: PlanContext, { type }: ChangeOf<'create enum'>): PlacedStep[] {
  const old = context.database.enums.find(({ schema, name }) => name === type.name && schema === type.schema)
  const isUsed = old && isUsedIn(context, old)
  if (isUsed)
    context.problems.push(
      `The enum type ${context.table(type)} has other values, and columns that no model has use it: drop them, or rename it.`,
    )
  return [
    ...(old ? [sqlStep(type, 'types', 'drop type, which no column has', `DROP TYPE ${context.table(type)}`)] : []),
    sqlStep(type, 'types', `create type (${type.values.join(', ')})`, enumText(context, type)),
  ]
}

export function addEnumValue(context: PlanContext, { type, value, after }: ChangeOf<'add enum value'>): PlacedStep {
  const first = type.values[0]
  const place = after !== undefined ? ` AFTER ${text(after)}` : first !== undefined ? ` BEFORE ${text(first)}` : ''
  const sql = `ALTER TYPE ${context.table(type)} ADD VALUE IF NOT EXISTS ${text(value)}${place}`
  return alone(type, 'types', `add value ${value}`, sql, AT_ONCE)
}

/** Whether a column, except for one, has the enum type. */
export function isUsedIn(
  { database }: PlanContext,
  type: EnumType,
  except?: { readonly table: string; readonly column: string },
): boolean {
  return database.tables.some((table) =>
    table.columns.some(
      (column) =>
        column.enumValues && isTypeOf(type, column) && !(table.name === except?.table && column.name === except.column),
    ),
  )
}
