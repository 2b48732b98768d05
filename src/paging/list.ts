import { type FindAttributeOptions, type FindOptions, literal, type Model, Op, type OrderItem } from 'sequelize'
import { toCondition } from '../db/statements/bind-placeholders.js'
import { type Find, type Join, joinsMany, leadsTo, mentionsOf, neededIncludes } from '../db/statements/find.js'
import { instanceInternals } from '../db/sequelize/internals.js'
import type { Sql } from '../db/statements/statement.js'
import { atPlaces, type OrderColumn, type Place } from './keyset.js'
import type { ColumnCodec } from './column-codec.js'
import { findRows, type Row, LazyInstance } from './lazy-instances.js'

/** Some rows of a statement, in order. */
export interface Window {
  readonly order: readonly OrderItem[]
  readonly limit: number
  readonly offset?: number
  readonly after?: Sql
  /** Attributes that the order names. */
  readonly aliased?: readonly Aliased[]
}

export type Aliased = [expression: ReturnType<typeof literal>, alias: string]

/** A row, and its values of some columns. */
export interface Placed<R> {
  readonly row: R
  readonly place: Place
}

/** Whether a row of the root comes in several rows of the join, so that LIMIT would cut the join and not the list. */
export function comesInParts({ joins }: Find): boolean {
  return joins.some((join) => !join.separate && (join.many || comesInParts({ joins: join.joins } as Find)))
}

/** The rows of the statement with their places in these columns. */
export async function readRows(
  find: Find,
  columns: readonly OrderColumn[],
  notation: ColumnCodec,
  stretch: Window,
): Promise<Placed<Row>[]> {
  const { model, options } = find
  const rows = await findRows(model, {
    ...options,
    ...cut(options, stretch),
    attributes: withPlace(options.attributes, columns, notation),
  })
  return rows.map((row) => ({ row, place: takePlace(row, columns, notation) }))
}

/** Only the places of the rows; `group` is what else a row is ordered by. */
export async function readPlaces(
  find: Find,
  columns: readonly OrderColumn[],
  notation: ColumnCodec,
  stretch: Window,
  group: readonly string[],
): Promise<Place[]> {
  const { model, options, joins } = find
  const texts = group.map((text) => literal(text))
  const mentioned = anyOf(mentionsOf(options.where, ...texts), mentionedByOrder(stretch.order))
  const include = neededIncludes(joins, mentioned)
  const grouped: { group?: unknown } = joinsMany(joins, mentioned) ? { group: texts } : {}
  const rows: unknown[] = await model.findAll({
    ...options,
    ...cut(options, stretch),
    attributes: [...placeAttributes(columns, notation), ...(stretch.aliased ?? [])],
    raw: true,
    include,
    ...(grouped as object), // Sequelize's types know strings only
    ...(grouped.group ? { lock: false } : {}), // no database locks groups; the rows are locked as they are read whole
  })
  return rows.map((row) => placeIn(row as Record<string, unknown>, columns, notation))
}

/** SQLite takes no expression of more than a thousand alternatives, and all databases have a bound for the values of a statement. */
const MOST_AT_ONCE = 500

/** The whole rows, with all that they include, at these places of the key; `order` is that of the included rows. */
export async function readRowsAt(
  find: Find,
  keys: readonly OrderColumn[],
  notation: ColumnCodec,
  places: readonly Place[],
  order: readonly OrderItem[] = [],
): Promise<Model[]> {
  const { order: _, ...unordered } = find.options
  const byKey = new Map<string, Model>()
  for (let from = 0; from < places.length; from += MOST_AT_ONCE) {
    const some = places.slice(from, from + MOST_AT_ONCE)
    const { condition, options } = toCondition(atPlaces(keys, some, notation))
    const rows = await find.model.findAll({
      ...unordered,
      ...options,
      ...(order.length > 0 ? { order: [...order] } : {}),
      where: and(find.options, condition),
      attributes: withPlace(find.options.attributes, keys, notation),
    })
    for (const row of rows) byKey.set(JSON.stringify(takePlace(row, keys, notation)), row)
  }
  // A row that was deleted since its place was read is left out.
  return places.flatMap((place) => byKey.get(JSON.stringify(place)) ?? [])
}

function cut(given: FindOptions, { order, limit, offset, after }: Window): FindOptions {
  const { condition, options } = after ? toCondition(after) : {}
  const cuts: FindOptions & { rejectOnEmpty: false } = {
    ...options,
    ...(condition ? { where: and(given, condition) } : {}),
    order: [...order],
    limit,
    ...(offset === undefined ? {} : { offset }),
    subQuery: false,
    rejectOnEmpty: false,
  }
  return cuts
}

function and({ where }: FindOptions, condition: ReturnType<typeof literal>): NonNullable<FindOptions['where']> {
  return { [Op.and]: where === undefined || where === null ? [condition] : [where, condition] }
}

const ALIAS = '__place_'

function placeAttributes(
  columns: readonly OrderColumn[],
  notation: ColumnCodec,
): [ReturnType<typeof literal>, string][] {
  return columns.map(({ sql, type }, index) => [literal(notation.write(sql, type)), `${ALIAS}${index}`])
}

function withPlace(
  given: FindAttributeOptions | undefined,
  columns: readonly OrderColumn[],
  notation: ColumnCodec,
): FindAttributeOptions {
  const added = placeAttributes(columns, notation)
  if (Array.isArray(given)) return [...given, ...added]
  const { include = [] } = (given ?? {}) as { readonly include?: readonly never[] }
  return { ...given, include: [...include, ...added] } as FindAttributeOptions
}

// The handler's row is as if its place had never been read.
function takePlace(row: Row, columns: readonly OrderColumn[], notation: ColumnCodec): Place {
  if (row instanceof LazyInstance) {
    const place = placeIn(row.values, columns, notation)
    for (const index of columns.keys()) row.values[`${ALIAS}${index}`] = undefined // which is not built into an instance
    return place
  }
  const sources = [row.dataValues, instanceInternals(row)._previousDataValues, row]
  const values = (row.dataValues ?? row) as Record<string, unknown>
  const place = placeIn(values, columns, notation)
  for (const source of sources as (Record<string, unknown> | undefined)[])
    if (source) for (const index of columns.keys()) delete source[`${ALIAS}${index}`]
  return place
}

function placeIn(values: Record<string, unknown>, columns: readonly OrderColumn[], notation: ColumnCodec): Place {
  return columns.map((_, index) => {
    const value = values[`${ALIAS}${index}`]
    return value === null || value === undefined ? null : notation.toText(value)
  })
}

function anyOf(...tests: ((join: Join) => boolean)[]): (join: Join) => boolean {
  return (join) => tests.some((test) => test(join))
}

function mentionedByOrder(order: readonly OrderItem[]): (join: Join) => boolean {
  const inTexts = mentionsOf(order)
  const parts = order.flatMap((item) => (Array.isArray(item) ? (item as unknown[]) : [item]))
  return (join) =>
    inTexts(join) ||
    parts.some((part) => leadsTo(part, join) || (typeof part === 'string' && part.startsWith(`${join.path.at(-1)}.`)))
}
