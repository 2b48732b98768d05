import type { Attributes, Model, ModelStatic, WhereOptions } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { memo } from '../core/memo.js'
import { checkOptions, fitting, integer, list, type OptionChecks, requireArray } from '../core/option-checks.js'
import { NOT_LOADED, shown } from '../core/options.js'
import { isRecord } from '../core/records.js'
import { type ColumnUse, declareColumnUses } from '../db/indexes/column-uses.js'
import { columnsOf } from '../db/models/columns.js'
import type { Select } from '../db/statements/statement.js'
import { type Constructor, isConstructor } from '../di/token.js'
import { fieldsOf, isInstantiable, unknownFieldsKey } from '../schema/shape/fields.js'
import { describedBy, type Property, type Shape } from '../schema/shape/shape.js'
import type { ListColumn } from './list-column.js'
import { type ListFilter, type ListPlan, listPlan } from './list-plan.js'
import { listProperties } from './list-shape.js'
import { listStatement } from './list-statement.js'
import type { AnyListOptions, ListOptions } from './options.js'

/** The query of a client for a list. */
export interface ListQuery<M extends Model> {
  /**
   * The statement for a paginator: the rows that fit the filters of the client, in the order of the client.
   *
   * @param where conditions of the program, which every row fits, whatever the client sends.
   */
  select(where?: WhereOptions<Attributes<M>>): Select<M>
}

const names = list(`'name'`)

const OPTIONS: OptionChecks<AnyListOptions> = {
  filter: requireFilter,
  sort: names,
  defaultSort: names,
  include: names,
  fields: (fields, place) => fields === true || names(fields, place),
  maxItems: integer('values', 1, 10_000),
  maxSort: integer('columns', 1, 20),
  unindexed: names,
}

/**
 * A class of query parameters for a list: `filter[age][gte]=18`, `sort=-age,name`, `include=team`, `fields=name`. Clients can request what is
 * declared, and for nothing else. As the type of a parameter it needs no decorator. Fields of the class are further query parameters.
 *
 * @throws BootError for wrong options, and (from `createApp()`) for columns that the model does not have, or operators that do not fit them.
 * @example
 * class HeroList extends listOf(Hero, { filter: { age: ['gte', 'lt'], 'team.city': ['eq'] }, sort: ['name', 'age'], include: ['team'] }) {}
 * // @Get('/', Page.of(Hero)) list(query: HeroList, paginate: Paginate<Hero>) { return paginate(query.select()) }
 */
export function listOf<M extends Model>(model: ModelStatic<M>, options: ListOptions<M>): new () => ListQuery<M> {
  if (!isConstructor(model))
    throw new BootError(
      `listOf(${shown(model)}, ...) requires a model. ${model === undefined ? NOT_LOADED : 'Write its class.'}`,
    )
  const where = `listOf(${model.name}, ...)`
  const given = options as AnyListOptions // without the names of the model's columns
  checkOptions(where, given, OPTIONS)
  const plan = memo(() => listPlan(model, given, where))
  const derived = class implements ListQuery<M> {
    select(condition?: WhereOptions<Attributes<M>>): Select<M> {
      // The columns were compared with the model when the app was created.
      return listStatement(plan(), this as Readonly<Record<string, unknown>>, condition) as Select<M>
    }
  }
  Object.defineProperty(derived, 'name', { value: `${model.name}List` })
  unknownFieldsKey.write(derived, 'refuse')
  describedBy.write(derived, (type) => listShape(type, model, plan, given.unindexed))
  return derived
}

function requireFilter(filter: unknown, place: string): void {
  fitting(isRecord, `operators for columns: { age: ['gte', 'lt'] }`)(filter, place)
  for (const [path, operators] of Object.entries(filter as object))
    requireArray(operators, `${place}: '${path}'`, `'eq'`)
}

/** The names of the query that belong to a list, declared or not. */
const LIST_NAMES = /^(?:filter|sort|include|fields)(?:\[|$)/

function listShape(
  type: Constructor,
  model: ModelStatic<Model>,
  plan: () => ListPlan,
  unindexed: readonly string[] = [],
): Shape {
  const properties = memo((): ReadonlyMap<string, Property> => {
    const resolved = plan()
    declareColumnUses(model, type, () => columnUses(resolved, type.name, unindexed))
    const own = [...(fieldsOf(type) ?? [])].map(([name, property]) => [name, property(type)] as const)
    return new Map([...listProperties(resolved), ...own])
  })
  return {
    kind: 'object',
    name: type.name,
    origin: type,
    properties,
    inQuery: { claims: (name) => LIST_NAMES.test(name), mayOmit: () => omissible(plan()) },
    ...(isInstantiable(type) ? { instance: type } : {}),
  }
}

/** The columns that a client may leave out: all but the key, which is always read. */
function omissible({ fields, model, key }: ListPlan): readonly string[] {
  return fields ? Object.keys(columnsOf(model)).filter((name) => !key.includes(name)) : []
}

/** The operators that an index serves that begins with the column. No such index finds a text within another, or what is not equal. */
const SERVED: ReadonlySet<string> = new Set(['eq', 'in', 'lt', 'lte', 'gt', 'gte', 'null'])

/**
 * The columns of a list that need an index.
 *
 * @param user the class of the list, for the advice.
 * @param unindexed the paths of columns that need none.
 */
function columnUses({ filters, sorts }: ListPlan, user: string, unindexed: readonly string[]): ColumnUse[] {
  const filtered = filters.filter(isServed).map(({ column }) => use(column, `${user} ${filtersBy(column.path)}`))
  const sorted = [...sorts.values()].map((column) => use(column, `${user} sorts by ${column.path}`))
  return [...filtered, ...sorted].flatMap(({ path, ...needed }) => (unindexed.includes(path) ? [] : needed))
}

/** The total of a condition on a joined table reads rows, too. */
function filtersBy(path: string): string {
  return `filters by ${path}${path.includes('.') ? '' : '; a total is then counted in the index alone'}`
}

function isServed({ operator }: ListFilter): boolean {
  return SERVED.has(operator)
}

function use({ path, model, attribute }: ListColumn, by: string) {
  return { path, model, attribute, by }
}
