import type { Column, Table } from '../../db/catalog/catalog.js'
import { type AlterColumn, changesOf, displayOfColumn, displayOfPart, isSameTable } from '../difference/change.js'
import { messageOf } from '../../core/to-error.js'
import type { PlanContext } from './context.js'
import { typeText } from './definitions.js'
import { misfit } from './misfits.js'
import { rowsThat } from './planned.js'
import { isRounded, parseType, typeChange } from './type-change.js'

/** How a column gets its new type. */
export interface Cast {
  readonly cost: 'at once' | 'rewrites' | 'casts'
  /** The new value, as SQL of the program. */
  readonly sql?: string
}

/** Where the database changes values without an error, and none of its expressions says which. */
const NOT_COUNTED = undefined

/** What the new type of a column needs; undefined, with a problem noted, if people have to agree to it, or if rows do not fit. */
export async function castOf(context: PlanContext, { table, from, to, parts }: AlterColumn): Promise<Cast | undefined> {
  const cost = typeChange(context.kind, from, to)
  if (cost !== 'casts' && context.cast(table, to)?.sql === undefined) return { cost }
  const name = displayOfColumn(table, to.name)
  const lost = lostDefault(to)
  if (lost !== undefined) {
    context.problems.push(
      `${name}: its default ${lost} is none of the new values. State another one in the model, or drop it first, in a migration of its own: --drop ${displayOfPart(table, to.name, 'default')}`,
    )
    return undefined
  }
  // Values that an enum no longer has are looked for without being asked.
  const given = context.cast(table, to) ?? (parts.includes('type') ? undefined : { sql: undefined })
  const misfits =
    given?.sql === undefined
      ? await misfitsOf(context, { table, from, to })
      : await misfitsOfValue(context, { table, from, to }, given.sql)
  const change = parts.includes('type') ? `${typeText(from)} -> ${typeText(to)}` : valuesText(from, to)
  if (!given) {
    const isRefused = misfits !== 0 && misfits !== NOT_COUNTED
    const answer = isRefused ? 'Write their new value:' : `If that is right: --cast ${name}, or`
    context.problems.push(
      `${name}: ${change} may lose values (${foundText(misfits)}). ${answer} --cast ${name}="<new value as SQL>"`,
    )
    return undefined
  }
  if (misfits !== 0 && misfits !== NOT_COUNTED && given.sql !== undefined) {
    context.problems.push(`${name}: by that --cast, ${foundText(misfits)}.`)
    return undefined
  }
  if (misfits !== 0 && misfits !== NOT_COUNTED) {
    context.problems.push(
      `${name}: ${change}: ${foundText(misfits)}. Change them first, or write their new value: --cast ${name}="<new value as SQL>"`,
    )
    return undefined
  }
  return given.sql === undefined ? { cost } : { cost: 'casts', sql: given.sql }
}

function foundText(misfits: number | string | typeof NOT_COUNTED): string {
  if (misfits === NOT_COUNTED) return 'which rows is not counted: the database changes them without an error'
  if (typeof misfits === 'string') return misfits
  return misfits === 0 ? 'all rows fit now' : rowsThat(misfits, 'do/does', 'not fit')
}

/** The default of an enum that it does not have: one that only the database states. */
function lostDefault({ enumValues, default: text = '' }: Column): string | undefined {
  const value = /^'((?:[^']|'')*)'/.exec(text)?.[1]?.replaceAll("''", "'")
  return value === undefined || !enumValues || enumValues.includes(value) ? undefined : value
}

function valuesText({ enumValues: old = [] }: Column, { enumValues: values = [] }: Column): string {
  return `without the value ${old.filter((value) => !values.includes(value)).join(', ')}`
}

/** How many rows do not fit, or why the database refuses the cast; undefined if they are not counted. */
async function misfitsOf(
  context: PlanContext,
  { table, from, to }: Pick<AlterColumn, 'table' | 'from' | 'to'>,
): Promise<number | string | typeof NOT_COUNTED> {
  const count = (condition: (column: string) => string) =>
    context.count(table, [to.name], ([column = ''], source) => {
      return `SELECT count(*) AS count FROM ${source} WHERE ${column} IS NOT NULL AND (${condition(column)})`
    })
  const current = context.currentColumn(table, to.name)
  if (current === undefined) return 0
  const condition = misfit(context.kind, context.quote(current), from, to)
  if (condition !== undefined) return count(() => condition)
  if (context.kind !== 'postgres') return NOT_COUNTED
  try {
    const cast = isRounded(parseType(from.type), parseType(to.type)) ? '' : '::text'
    return await count((column) => `(${column}${cast}::${to.type}${cast}::${from.type})::text <> ${column}::text`)
  } catch (error) {
    return messageOf(error)
  }
}

/** How many rows would not fit by a new value, or why the database refuses it. Only those of an enum are counted. */
async function misfitsOfValue(
  context: PlanContext,
  { table, from, to }: Pick<AlterColumn, 'table' | 'from' | 'to'>,
  sql: string,
): Promise<number | string> {
  const current = context.current(table)
  const hasOthers = changesOf(context.changes, 'add column').some((change) => isSameTable(change.table, table))
  // It may name columns that are not there yet.
  if (!to.enumValues || !current || context.isRenamed(table) || hasOthers) return 0
  const condition = misfit(context.kind, `(${sql})`, from, to) ?? 'FALSE'
  try {
    return await context.facts.count(
      `SELECT count(*) AS count FROM ${castSource(context, current, to)} WHERE ${condition}`,
    )
  } catch (error) {
    return messageOf(error)
  }
}

/** The table; on PostgreSQL with the column as a text, which has other values than its enum type. */
function castSource(context: PlanContext, table: Table, { name: cast }: Column): string {
  if (context.kind !== 'postgres') return context.table(table)
  const columns = table.columns.map(({ name, type, enumValues }) => {
    const quoted = context.quote(name)
    return name === cast && enumValues ? `${quoted}::text${type.endsWith('[]') ? '[]' : ''} AS ${quoted}` : quoted
  })
  return `(SELECT ${columns.join(', ')} FROM ${context.table(table)}) AS ${context.quote(table.name)}`
}
