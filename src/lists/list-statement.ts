import {
  DataTypes,
  type FindOptions,
  type IncludeOptions,
  literal,
  type Model,
  type ModelStatic,
  Op,
  type OrderItem,
  type WhereOptions,
} from 'sequelize'
import { quoted } from '../db/sequelize/quote.js'
import { modelInternals, sequelizeOf } from '../db/sequelize/internals.js'
import { type Select, select } from '../db/statements/statement.js'
import { typed } from '../paging/order-columns.js'
import { conditionsOf } from './conditions.js'
import type { ListColumn } from './list-column.js'
import { type ListPlan, pathOf } from './list-plan.js'

/** The statement for the query of a client. @param condition of the program, which every row fits. */
export function listStatement(
  plan: ListPlan,
  values: Readonly<Record<string, unknown>>,
  condition: WhereOptions | undefined,
): Select<Model> {
  const { model, filters, sorts, key } = plan
  const dialect = sequelizeOf(model).getDialect()
  const sort = namesIn(values['sort'])
  const fields = namesIn(values['fields'])
  const used = filters.filter(({ parameter }) => values[parameter] !== undefined)
  const filtered = conditionsOf(used, ({ parameter }) => values[parameter], dialect)
  const where = allOf([scopeOf(model), condition, filtered])
  const sorted = sort.flatMap((item) => sorts.get(pathOf(item)) ?? [])
  const joined = [...used.map(({ column }) => column), ...sorted].map(({ steps }) => steps)
  const include = includesOf(namesIn(values['include']), joined)
  return select(model, {
    ...(where === undefined ? {} : { where }),
    order: orderOf(plan, sort, dialect),
    ...(include.length > 0 ? { include } : {}),
    ...(fields.length > 0 ? { attributes: [...new Set([...key, ...fields])] } : {}),
  })
}

function allOf(conditions: readonly (WhereOptions | undefined)[]): WhereOptions | undefined {
  const given = conditions.filter((condition) => condition !== undefined)
  return given.length > 1 ? { [Op.and]: given } : given[0]
}

// Sequelize replaces a condition of the default scope by one on the same column: a client could reach the rows that the scope hides.
function scopeOf(model: ModelStatic<Model>): WhereOptions | undefined {
  const { where }: FindOptions = modelInternals(model)._scope ?? {}
  return where
}

function namesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : []
}

/**
 * The order of the rows, which ends with the primary key: no two rows are equal in it. The key has the direction of the last column, so that
 * an index over both is read in one direction. Rows without a value come last, on every database and in both directions.
 */
function orderOf({ sorts, key }: ListPlan, sort: readonly string[], dialect: string): OrderItem[] {
  const items = sort.flatMap((item) => {
    const column = sorts.get(pathOf(item))
    return column ? orderItems(column, directionOf(item), dialect) : []
  })
  const paths = sort.map(pathOf)
  const last = directionOf(sort.at(-1) ?? '')
  const rest = key.filter((name) => !paths.includes(name))
  return [...items, ...rest.map((name): OrderItem => [name, last])]
}

function directionOf(item: string): 'ASC' | 'DESC' {
  return item.startsWith('-') ? 'DESC' : 'ASC'
}

function orderItems(column: ListColumn, direction: 'ASC' | 'DESC', dialect: string): readonly OrderItem[] {
  const { steps, attribute, model, nullable } = column
  const ordered = (text: string) => [...steps, attribute, text] as unknown as OrderItem // its type lacks names of associations
  if (!nullable || (dialect === 'postgres' && direction === 'ASC')) return [ordered(direction)]
  if (dialect !== 'mysql' && dialect !== 'mariadb') return [ordered(`${direction} NULLS LAST`)]
  // They have no NULLS LAST.
  const isNull = literal(`${quoted(model, attribute, steps)} IS NULL`)
  return [[typed(isNull, { type: DataTypes.INTEGER, nullable: false }), 'ASC'], ordered(direction)]
}

/** An association of a statement, and those below it. */
interface Node {
  /** Whether its rows are sent; otherwise it is joined for a condition or an order. */
  isSent: boolean
  readonly below: Map<string, Node>
}

/**
 * The includes of a statement.
 *
 * @param sent the paths of the associations that are sent: `['team.country']` sends both.
 * @param joined the steps to columns that a condition or the order needs.
 */
function includesOf(sent: readonly string[], joined: readonly (readonly string[])[]): IncludeOptions[] {
  const root: Node['below'] = new Map()
  for (const path of sent) for (const node of nodesOn(root, path.split('.'))) node.isSent = true
  for (const steps of joined) nodesOn(root, steps)
  return optionsOf(root)
}

function nodesOn(root: Node['below'], steps: readonly string[]): readonly Node[] {
  let level = root
  return steps.map((step) => {
    const node = level.get(step) ?? { isSent: false, below: new Map<string, Node>() }
    level.set(step, node)
    level = node.below
    return node
  })
}

function optionsOf(level: Node['below']): IncludeOptions[] {
  return [...level].map(([association, { isSent, below }]) => ({
    association,
    ...(isSent ? {} : { attributes: [] }),
    ...(below.size > 0 ? { include: optionsOf(below) } : {}),
  }))
}
