import type { Column, EnumType, Table } from '../../../db/catalog/catalog.js'
import { type AlterColumn, displayOf } from '../../difference/change.js'
import { isTypeOf } from '../../difference/columns.js'
import { comparedDefault } from '../../difference/same.js'
import { type Cast, castOf } from '../casts.js'
import type { PlanContext } from '../context.js'
import { collationText, typeText } from '../definitions.js'
import { suffixedName } from '../names.js'
import { AT_ONCE, type PlacedStep, rewrites, sqlStep } from '../planned.js'
import { isRounded, parseType, typeChange } from '../type-change.js'
import { refuseReaders } from './readers.js'
import { widenSequences } from './sequences.js'
import { BLOCKS_ALL } from './step.js'
import { enumText, isUsedIn } from './types.js'

export async function changeType(context: PlanContext, change: AlterColumn): Promise<PlacedStep[]> {
  const cast = await castOf(context, change)
  if (!cast) return []
  const { table, from, to } = change
  await refuseReaders(context, table, to)
  const rows = await context.rows(table)
  const isFree = cast.cost === 'at once'
  const note = isFree ? AT_ONCE : rewrites(rows, BLOCKS_ALL)
  const renamed = renamedType(context, to)
  const target = renamed ? { ...to, type: `${renamed.name}${to.type.endsWith('[]') ? '[]' : ''}` } : to
  const alter = `ALTER TABLE ${context.table(table)} ${typeActions(context, from, target, cast).join(', ')}`
  const advice = renamed ? [] : unusedType(context, change)
  return [
    ...(renamed ? [createRenamed(context, table, renamed)] : []),
    ...(cast.sql !== undefined && from.enumValues && to.enumValues ? [enumAsText(context, change, note)] : []),
    {
      ...sqlStep(table, 'columns', titleOf(change), alter, note),
      ...(isFree ? {} : { rewritten: [{ table, column: to }] }),
      ...(advice.length === 0 ? {} : { advice }),
    },
    ...(await widenSequences(context, change)),
    ...(renamed ? replaceType(context, change, renamed) : []),
  ]
}

function titleOf({ from, to, parts }: AlterColumn): string {
  return parts.includes('values')
    ? `change the values of ${to.name} to ${to.enumValues?.join(', ')}`
    : `change ${to.name} from ${typeText(from)} to ${typeText(to)}`
}

/** A new enum type that is created while the old one of the same name exists. */
interface RenamedType {
  readonly type: EnumType
  /** Its name until the old type is dropped, as SQL quotes it. */
  readonly name: string
}

/** Undefined for a column without an enum type, or whose type has a name that is free. */
function renamedType(context: PlanContext, column: Column): RenamedType | undefined {
  const type = column.enumValues && context.models.enums.find((candidate) => isTypeOf(candidate, column))
  if (!type) return undefined
  const isTaken = context.database.enums.some(({ schema, name }) => name === type.name && schema === type.schema)
  const name = suffixedName('postgres', type.name, '_new')
  return isTaken ? { type, name: context.table({ ...type, name }) } : undefined
}

function createRenamed(context: PlanContext, table: Table, { type, name }: RenamedType): PlacedStep {
  return sqlStep(table, 'columns', `create type ${type.name}_new`, enumText(context, type, name))
}

/** The new value may be one that the old type does not have. */
function enumAsText(context: PlanContext, { table, from, to }: AlterColumn, note: string): PlacedStep {
  const [name, type] = [context.quote(to.name), from.type.endsWith('[]') ? 'text[]' : 'text']
  const sql = `ALTER TABLE ${context.table(table)} ALTER COLUMN ${name} DROP DEFAULT, ALTER COLUMN ${name} TYPE ${type} USING ${name}::${type}`
  return { ...sqlStep(table, 'columns', `change ${to.name} to ${type}`, sql, note), isPart: true }
}

/** A type with a name of people's own may be that of a function, too: it stays. */
function unusedType(context: PlanContext, { table, from }: AlterColumn): string[] {
  const old = from.enumValues && context.database.enums.find((candidate) => isTypeOf(candidate, from))
  if (!old || isUsedIn(context, old, currentPlace(context, table, from))) return []
  return [`No column has the type ${displayOf(old)} then. --drop "enum ${displayOf(old)}" deletes it afterwards.`]
}

function currentPlace(context: PlanContext, table: Table, { name }: Column): { table: string; column: string } {
  return {
    table: context.current(table)?.name ?? table.name,
    column: context.currentColumn(table, name) ?? name,
  }
}

/** The old type goes, and the new one gets its name, unless other columns have the old one. */
function replaceType(context: PlanContext, { table, from }: AlterColumn, renamed: RenamedType): PlacedStep[] {
  const old = context.database.enums.find((candidate) => isTypeOf(candidate, from))
  if (!old || old.name !== renamed.type.name || isUsedIn(context, old, currentPlace(context, table, from))) return []
  return [
    sqlStep(table, 'columns', `drop the old type ${old.name}`, `DROP TYPE ${context.table(old)}`),
    sqlStep(
      table,
      'columns',
      `rename the new type to ${old.name}`,
      `ALTER TYPE ${renamed.name} RENAME TO ${context.quote(old.name)}`,
    ),
  ]
}

/** The collation that a text keeps: without it, TYPE would give it the one of the database. */
export function keptCollation({ collation }: Column, { type, enumValues }: Column): string | undefined {
  return TEXTS.includes(parseType(type).base) && !enumValues ? collation : undefined
}

/** The parts of the ALTER TABLE: a default is of the old type, and is set again. */
function typeActions(context: PlanContext, from: Column, to: Column, { sql }: Cast): string[] {
  const column = `ALTER COLUMN ${context.quote(to.name)}`
  const own = to.collation ?? keptCollation(from, to)
  const collation = own === undefined ? '' : ` COLLATE ${collationText('postgres', own)}`
  const value = sql === undefined ? usingOf(context, from, to) : castText(to, sql)
  const wanted = comparedDefault(to)
  return [
    ...(from.default === undefined || from.identity ? [] : [`${column} DROP DEFAULT`]),
    `${column} TYPE ${typeText(to)}${collation}${value === undefined ? '' : ` USING ${parenthesized(value)}`}`,
    ...(wanted === undefined || to.identity ? [] : [`${column} SET DEFAULT ${wanted}`]),
  ]
}

function castText({ enumValues, type }: Column, sql: string): string {
  return enumValues ? `(${sql})::text${type.endsWith('[]') ? '[]' : ''}::${type}` : sql
}

function parenthesized(sql: string): string {
  return `(${sql})`
}

const NUMBERS = ['smallint', 'integer', 'bigint', 'numeric', 'float', 'double']
const TEXTS = ['character varying', 'character', 'text']

/** The value in the new type; an error that names it if it would be another one there. */
function sameValueOr(column: string, old: string, now: string): string {
  return `CASE WHEN ${column}::${now}::${old} = ${column} THEN ${column}::${now} ELSE (${column}::text || ' does not fit')::${now} END`
}

/** The cast that has to be written: PostgreSQL does the others by itself, and refuses values that do not fit. */
function usingOf(context: PlanContext, from: Column, to: Column): string | undefined {
  const [old, now] = [parseType(from.type), parseType(to.type)]
  const isText = TEXTS.includes(now.base) && !to.enumValues
  const areNumbers = NUMBERS.includes(old.base) && NUMBERS.includes(now.base)
  const column = context.quote(to.name)
  if (typeChange('postgres', from, to) === 'casts' && isRounded(old, now))
    return sameValueOr(column, from.type, to.type)
  if (old.base === now.base && !to.enumValues) return undefined
  if ((isText && !now.isArray) || areNumbers) return undefined
  return `${column}::text${now.isArray ? '[]' : ''}::${to.type}`
}
