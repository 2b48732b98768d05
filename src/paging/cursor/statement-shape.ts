import { type IncludeOptions, Op, Utils } from 'sequelize'
import { isPlainRecord } from '../../core/records.js'
import { type Find, type Join, mentionsOf } from '../../db/statements/find.js'
import { fnInternals, modelInternals } from '../../db/sequelize/internals.js'

/*
 * A cursor is bound to the list that it was created for: to its order, and to the shape of its conditions: the names of attributes, the
 * operators, their nesting, and the SQL of expressions. Values are left out on purpose: `created_at <= now`, or the ids of followed users,
 * change between two pages of one list. A cursor need not be bound to them, because every page applies the conditions.
 */

const VALUE = '?'
/** Conditions that are nested deeper count as values. */
const MAX_DEPTH = 40

/** Equal for two statements of a model that differ only in values, in their order, or in the attributes and includes of each row. */
export function statementShape({ model, options, joins }: Find, order: readonly object[]): string {
  const { OperatorMap } = modelInternals(model).queryGenerator
  const reader = new ShapeReader(OperatorMap)
  const joined = joins.length > 0 ? joinShapes(joins, mentionsOf(options.where, ...order), reader) : []
  return JSON.stringify([reader.condition(options.where), options.paranoid !== false, joined])
}

// A left join that no condition mentions adds columns to rows, and changes nothing else.
function joinShapes(joins: readonly Join[], mentioned: (join: Join) => boolean, reader: ShapeReader): unknown[] {
  return joins.flatMap((join) => {
    if (join.separate) return []
    const inner = joinShapes(join.joins, mentioned, reader)
    const narrows = join.inner || inner.length > 0 || mentioned(join)
    return narrows ? [[join.path.at(-1), join.inner, ...conditionsOf(join.option, reader), inner]] : []
  })
}

function conditionsOf({ where, on, through, paranoid }: IncludeOptions, reader: ShapeReader): unknown[] {
  return [...[where, on, through?.where].map((condition) => reader.condition(condition)), paranoid !== false]
}

const WITHOUT_NULL: ReadonlyMap<string, string> = new Map([
  ['IS', '='],
  ['IS NOT', '!='],
])

const LOGICAL: ReadonlySet<PropertyKey> = new Set([Op.and, Op.or, Op.not])

class ShapeReader {
  readonly #operators: Readonly<Record<PropertyKey, string>>
  /** Each part is read once, even if it occurs several times. A part that contains itself counts as a value there. */
  readonly #known = new Map<object, string>()

  constructor(operators: Readonly<Record<PropertyKey, string>>) {
    this.#operators = operators
  }

  condition(given: unknown): string {
    return this.#read(given ?? {}, false, 0)
  }

  /** `isOperand`: below an operator such as Op.contains, where a plain object is a value. */
  #read(given: unknown, isOperand: boolean, depth: number): string {
    if (typeof given !== 'object' || given === null || depth > MAX_DEPTH) return VALUE
    const known = this.#known.get(given)
    if (known !== undefined) return known
    this.#known.set(given, VALUE)
    const shape = this.#readObject(given, isOperand, depth)
    this.#known.set(given, shape)
    return shape
  }

  #readObject(given: object, isOperand: boolean, depth: number): string {
    if (Array.isArray(given)) return this.#list(given, isOperand, depth + 1)
    if (given instanceof Utils.SequelizeMethod) return this.#expression(given, depth + 1)
    return isPlainRecord(given) && !(isOperand && isData(given)) ? this.#condition(given, depth + 1) : VALUE
  }

  // The shape does not depend on the length: of the ids of IN, or of one condition for each word of a search.
  #list(list: readonly unknown[], isOperand: boolean, depth: number): string {
    const shapes = new Set(list.map((part) => this.#read(part, isOperand, depth)))
    return shapes.size === 0 || (shapes.size === 1 && shapes.has(VALUE)) ? VALUE : `[${[...shapes].join()}]`
  }

  #condition(given: object, depth: number): string {
    const parts = Reflect.ownKeys(given).map((key) => {
      const value: unknown = Reflect.get(given, key)
      if (key === Op.col) return `${String(key)}:${JSON.stringify(value)}`
      const isOperand = typeof key === 'symbol' && !LOGICAL.has(key)
      const name = typeof key === 'symbol' ? String(key) : JSON.stringify(key)
      return `${name}:${this.#read(value, isOperand, depth)}`
    })
    return `{${parts.sort().join()}}`
  }

  #expression(given: InstanceType<typeof Utils.SequelizeMethod>, depth: number): string {
    const read = (part: unknown) => this.#read(part, false, depth)
    if (given instanceof Utils.Literal) return `literal(${JSON.stringify(String(given.val))})`
    if (given instanceof Utils.Col) return `col(${JSON.stringify(given.col)})`
    if (given instanceof Utils.Cast) return `cast(${read(given.val)},${JSON.stringify(given.type)})`
    if (given instanceof Utils.Json) return `json(${read(given.conditions)},${JSON.stringify(given.path)})`
    if (given instanceof Utils.Where)
      return `where(${attributeShape(given.attribute) ?? read(given.attribute)},${this.#comparator(given)},${read(given.logic)})`
    const { fn, args = [] } = fnInternals(given)
    return `fn(${JSON.stringify(fn)},${args.map(read).join()})`
  }

  // Sequelize changes the object when it writes the SQL: Op.gt to '>', and '=' to 'IS' for NULL.
  #comparator({ comparator }: { readonly comparator: PropertyKey }): string {
    const text = this.#operators[comparator] ?? String(comparator)
    return WITHOUT_NULL.get(text) ?? text
  }
}

/** For an attribute of a model, as in `where(Hero.getAttributes().name, ...)`: an object that refers to the whole model. */
function attributeShape(attribute: unknown): string | undefined {
  if (typeof attribute !== 'object' || attribute === null || !('Model' in attribute)) return undefined
  const { Model, field, fieldName } = attribute as { Model: { name: string }; field?: string; fieldName?: string } // as Sequelize reads it
  return JSON.stringify([Model.name, field ?? fieldName])
}

function isData(given: object): boolean {
  return Object.getOwnPropertySymbols(given).length === 0
}
