import {
  type FindOptions,
  literal,
  type Model,
  type ModelStatic,
  type OrderItem,
  type ProjectionAlias,
  Utils,
} from 'sequelize'
import { columnCodecOf } from './column-codec.js'
import { modelInternals } from '../db/sequelize/internals.js'
import { type Find, type Join, leadsTo, mentionsOf } from '../db/statements/find.js'

/** An item of Sequelize's `order`, taken apart: `[Team, 'name', 'DESC']`. */
export interface OrderParts {
  /** The associations that lead to a joined model: `[Team]`. */
  readonly path: readonly unknown[]
  /** The name of an attribute, or an expression. */
  readonly expression: unknown
  /** As written: `DESC`, `asc nulls last`; undefined if left out. */
  readonly direction: string | undefined
}

export function partsOf(item: unknown): OrderParts {
  const parts = listOf(item)
  const last = parts.at(-1)
  const direction = parts.length > 1 && isDirection(last) ? last : undefined
  const rest = direction === undefined ? parts : parts.slice(0, -1)
  return { path: rest.slice(0, -1), expression: rest.at(-1), direction }
}

function isDirection(part: unknown): part is string {
  return typeof part === 'string' && /^(?:asc|desc|nulls)\b/i.test(part)
}

function listOf(item: unknown): readonly unknown[] {
  return Array.isArray(item) ? item : [item]
}

/** The order of a statement, then the columns of its primary key: rows that are equal in the order keep one order, so that no page repeats or skips one. */
export function withPrimaryKey({ model, options: { order } }: Find): OrderItem[] {
  const items: OrderItem[] = Array.isArray(order) ? order : order === undefined || order === null ? [] : [order]
  const columns = new Set(items.map(columnIn))
  const complete = [...items]
  for (const key of model.primaryKeyAttributes) if (!columns.has(key)) complete.push([key, 'ASC'])
  return complete
}

function columnIn(item: OrderItem): unknown {
  const { path, expression } = partsOf(item)
  return path.length === 0 ? expression : undefined
}

/** Whether an item orders included rows within each row of the model, and not these rows. */
export function ordersIncludedRows(item: unknown, joins: readonly Join[]): boolean {
  const [step, ...rest] = listOf(item)
  return joins.some((join) => leadsTo(step, join) && (join.many || ordersIncludedRows(rest, join.joins)))
}

/** The attributes with an alias, which an order may name: `attributes: { include: [[literal('score * 2'), 'doubled']] }`. */
export function aliasesOf({ attributes }: FindOptions): readonly ProjectionAlias[] {
  const listed = Array.isArray(attributes) ? attributes : (attributes?.include ?? [])
  return listed.filter((attribute): attribute is ProjectionAlias => Array.isArray(attribute))
}

/** The aliased attributes that an order names, be it within an expression. */
export function aliasesIn(order: readonly OrderItem[], options: FindOptions): readonly ProjectionAlias[] {
  const texts = order.flatMap(listOf).map(textOf)
  return aliasesOf(options).filter(([, alias]) => texts.some((text) => text.includes(alias)))
}

function textOf(part: unknown): string {
  if (part instanceof Utils.Literal) return String(part.val)
  return part instanceof Utils.Col ? part.col : String(part)
}

/** An item as SQL, without its direction. */
export function sqlOf(item: OrderItem, model: ModelStatic<Model>, aliases: readonly ProjectionAlias[]): string {
  const { queryGenerator } = modelInternals(model)
  const { path, expression } = partsOf(item)
  const alias = path.length === 0 && aliases.find(([, name]) => name === expression)
  if (alias) return queryGenerator.quoteIdentifier(alias[1])
  const quoted = queryGenerator.quote([...path, expression], model, '->')
  // A literal may contain its direction.
  return quoted.replace(/\s+(?:asc|desc)(?:\s+nulls\s+(?:first|last))?\s*$/i, '')
}

/** The items with NULLS FIRST and NULLS LAST in the form of the database: MySQL and MariaDB do not have them. */
export function withNullsClauses(items: readonly OrderItem[], { model, options }: Find): readonly OrderItem[] {
  if (columnCodecOf(model).nullsClause) return items
  return items.flatMap((item): OrderItem | OrderItem[] => {
    const [, direction, nulls] = NULLS.exec(partsOf(item).direction ?? '') ?? []
    if (nulls === undefined) return [item]
    const isNull = literal(`${sqlOf(item, model, aliasesOf(options))} IS NULL`)
    const column = listOf(item).slice(0, -1)
    return [
      [isNull, nulls.toUpperCase() === 'LAST' ? 'ASC' : 'DESC'],
      [...column, direction?.toUpperCase() === 'DESC' ? 'DESC' : 'ASC'] as unknown as OrderItem, // its type lacks names of associations
    ]
  })
}

const NULLS = /^\s*(asc|desc)?\s*\bnulls\s+(first|last)\s*$/i

/** Whether an order may depend on a join. */
export function mentionedIn(order: readonly OrderItem[]): (join: Join) => boolean {
  const isMentioned = mentionsOf(order)
  const parts = order.flatMap(listOf)
  return (join) =>
    isMentioned(join) ||
    parts.some((part) => leadsTo(part, join) || (typeof part === 'string' && part.startsWith(`${join.path.at(-1)}.`)))
}

/** An item for messages: `order [Team, 'name', 'DESC']`. */
export function describeItem(item: unknown): string {
  return `order [${listOf(item).map(describePart).join(', ')}]`
}

function describePart(part: unknown): string {
  if (typeof part === 'string') return `'${part}'`
  if (typeof part === 'function') return part.name
  return typeof part === 'object' && part !== null ? part.constructor.name : String(part)
}
