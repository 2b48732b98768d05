import { type DataType, literal, type Model, type ModelStatic, Op, type Sequelize } from 'sequelize'
import { isObjectLiteral } from '../../core/records.js'
import { dataTypeInternals, type ModelInternals, modelInternals } from '../sequelize/internals.js'
import { bigintBounds, columnShape } from '../models/column-shape.js'
import type { GeneratedStatement } from '../direct-statement.js'
import { isStoredUuid } from '../sql/values.js'
import { type StoredForms, storedFormsOf } from '../values/stored-forms.js'
import { isPlainTable } from './plain-tables.js'

/** The facts that all compiled statements of a model share. */
export interface ModelPlan {
  readonly names: readonly string[]
  /** As in `attributes` of Sequelize's find options. */
  readonly columns: readonly (string | readonly [field: string, name: string])[]
  /** The columns that a condition may compare with a value, by the names of their attributes. */
  readonly comparable: ReadonlyMap<string, ComparableColumn>
  /** The attributes whose values are unique among the rows. */
  readonly uniqueNames: ReadonlySet<string>
  /** The order of a page without one: by the primary key. */
  readonly keyOrder: readonly (readonly [name: string, direction: 'ASC'])[]
  /** The columns of a new row; undefined if Sequelize must write the rows. */
  readonly rowColumns: readonly RowColumn[] | undefined
  /** Whether its rows do not depend on the transaction that reads them, as those of a view may. */
  readonly isOfPlainTable: boolean
  /** Whether a column has the name of another attribute: Sequelize mixes both up. */
  readonly mixesNames: boolean
  /** Undefined if all of its columns return what was written. */
  readonly storedForms: StoredForms | undefined
  /**
   * Whether values are written as literals, as Sequelize writes them: MySQL and MariaDB may compare a value of a prepared statement differently, and
   * return other types for its columns.
   */
  readonly hasLiterals: boolean
  /** The statements that were generated, by their keys. */
  readonly statements: Map<string, GeneratedStatement>
}

export interface ComparableColumn {
  readonly field: string
  readonly value: PlainValue
}

export interface RowColumn {
  readonly name: string
  readonly field: string
  /** Undefined if only NULL can be written without Sequelize. */
  readonly value: RowValue | undefined
  /** Whether Sequelize accepts NULL, or no value. */
  readonly isOptional: boolean
  /** Whether the database generates the value where there is none. */
  readonly isGeneratedKey: boolean
  /** Which time Sequelize writes: that of the first save, or of each. */
  readonly timestamp: 'created' | 'updated' | undefined
}

interface KnownPlan {
  readonly sequelize: Sequelize | undefined
  /** Sequelize replaces it when an attribute is added or removed. */
  readonly attributes: ModelInternals['fieldAttributeMap']
  readonly plan: ModelPlan
}

const plans = new WeakMap<object, KnownPlan>()

/** A model class can be mapped to another instance of Sequelize later. */
export function planOf(model: ModelStatic<Model>): ModelPlan {
  const { fieldAttributeMap: attributes } = modelInternals(model)
  const { sequelize } = model
  const known = plans.get(model)
  if (known && known.sequelize === sequelize && known.attributes === attributes) return known.plan
  const plan = newPlan(model)
  plans.set(model, { sequelize, attributes, plan })
  return plan
}

const DIALECTS_WITH_LITERALS: ReadonlySet<string | undefined> = new Set(['mysql', 'mariadb'])

function newPlan(model: ModelStatic<Model>): ModelPlan {
  const attributes = Object.entries(model.getAttributes())
  return {
    names: attributes.map(([name]) => name),
    columns: attributes.map(([name, { field = name }]) => (field === name ? name : [field, name])),
    comparable: comparableColumns(model),
    uniqueNames: new Set([model.primaryKeyAttribute, ...uniqueColumns(model)]),
    keyOrder: model.primaryKeyAttributes.map((name) => [name, 'ASC']),
    rowColumns: rowColumns(model),
    isOfPlainTable: isPlainTable(model),
    mixesNames: attributes.some(
      ([name, { field = name }]) => field !== name && attributes.some(([other]) => other === field),
    ),
    storedForms: storedFormsOf(model),
    hasLiterals: DIALECTS_WITH_LITERALS.has(model.sequelize?.getDialect()),
    statements: new Map(),
  }
}

// Sequelize reads dots and dollars in the name of a column as a path. In keys of statements, a comma, an equals sign or a space ends a name.
const PLAIN_NAME = /^[A-Za-z_]\w*$/

function comparableColumns(model: ModelStatic<Model>): Map<string, ComparableColumn> {
  const attributes = model.getAttributes()
  const columns = Object.entries(attributes).flatMap(([name, { field = name, type }]): [string, ComparableColumn][] => {
    // Sequelize mixes up conditions of a column that has the name of another attribute.
    const isOther = field !== name && Object.hasOwn(attributes, field)
    const value = isOther || !PLAIN_NAME.test(name) || !PLAIN_NAME.test(field) ? undefined : plainValueOf(model, type)
    return value ? [[name, { field, value }]] : []
  })
  return new Map(columns)
}

function uniqueColumns(model: ModelStatic<Model>): readonly string[] {
  const keys = Object.values(modelInternals(model).uniqueKeys)
  return keys.filter(({ fields }) => fields.length === 1).map(({ column }) => column)
}

function rowColumns(model: ModelStatic<Model>): RowColumn[] | undefined {
  const { rawAttributes, prototype, _timestampAttributes } = modelInternals(model)
  const { createdAt, updatedAt } = _timestampAttributes
  const columns = Object.entries(rawAttributes)
  const isPlain = columns.every(([name, { field = name, autoIncrement, primaryKey, defaultValue, set }]) => {
    const isOther = field !== name && Object.hasOwn(rawAttributes, field) // Sequelize mixes up their types
    const isSet =
      name === createdAt || name === updatedAt ? defaultValue !== undefined : autoIncrement && (set ?? !primaryKey)
    return !isOther && !isSet && !Object.hasOwn(prototype.validators, name)
  })
  if (!isPlain) return undefined
  return columns.map(([name, { field = name, type, allowNull, autoIncrement = false, _autoGenerated }]) => ({
    name,
    field,
    value: rowValueOf(type as DataType), // an attribute of a model has Sequelize's types
    isOptional: allowNull !== false || autoIncrement || _autoGenerated === true,
    isGeneratedKey: autoIncrement,
    timestamp: name === createdAt ? 'created' : name === updatedAt ? 'updated' : undefined,
  }))
}

/** How many statements of one model are kept. A program has few. */
const MAX_STATEMENTS = 200

/** The statement of a key, which is generated once. @param key the same only for statements that differ in nothing but their values. */
export function generated({ statements }: ModelPlan, key: string, generate: () => string): GeneratedStatement {
  const found = statements.get(key)
  if (found) return found
  const statement: GeneratedStatement = { sql: generate(), facts: undefined }
  if (statements.size >= MAX_STATEMENTS) statements.clear()
  statements.set(key, statement)
  return statement
}

/** Which values a column stores as they are, and how they are bound. */
interface RowValue {
  /** Whether the value is within the bounds of the column, and means the same to Sequelize and to every database. */
  isPlain(value: unknown): boolean
  /** Whether Sequelize converts it before it is bound. */
  readonly isConverted: boolean
}

/** Undefined for types whose values are left to Sequelize. */
function rowValueOf(type: DataType): RowValue | undefined {
  const { key, values = [], _binary: isBinary } = dataTypeInternals(type)
  switch (key) {
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT': {
      const [least, most] = integerBounds(type)
      const isPlain = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
      return { isConverted: false, isPlain }
    }
    case 'STRING':
    case 'TEXT': {
      const shape = columnShape({ type })
      if (isBinary || shape.kind !== 'string') return undefined
      const { maxLength = Infinity } = shape // in characters: a string has at most as many as its `length`
      // PostgreSQL has no NUL in texts, and Sequelize changes it in literals.
      const isPlain = (value: unknown) =>
        typeof value === 'string' && value.length <= maxLength && !value.includes('\0')
      return { isConverted: false, isPlain }
    }
    case 'UUID':
      return { isConverted: false, isPlain: (value) => typeof value === 'string' && isStoredUuid(value) }
    case 'BOOLEAN':
      return { isConverted: false, isPlain: (value) => typeof value === 'boolean' }
    case 'ENUM':
      return { isConverted: false, isPlain: (value) => typeof value === 'string' && values.includes(value) }
    case 'DATE':
      return { isConverted: true, isPlain: (value) => value instanceof Date && isWithinDates(value.getTime()) }
    default:
      return undefined
  }
}

function isWithinDates(time: number): boolean {
  return time >= Date.UTC(1, 0) && time <= Date.UTC(9999, 0)
}

function integerBounds(type: DataType): readonly [number, number] {
  const shape = columnShape({ type })
  if (shape.kind === 'integer') return [shape.minimum ?? -Infinity, shape.maximum ?? Infinity]
  const [least, most] = bigintBounds(type)
  return [Number(least), Number(most)]
}

/** The values of a column's type that have the same meaning as a parameter and as a literal. */
interface PlainValue {
  isPlain(value: unknown): boolean
  /** The placeholder `$1` with the type that PostgreSQL gives to the literal. */
  cast(placeholder: string): string
}

/**
 * PostgreSQL gives a parameter the type of the column that it is compared with, and reports an error for one beyond the values of that type; it
 * gives a literal the type of its value. So a parameter is cast to the type of the literal; other values are left to Sequelize.
 */
function plainValueOf(model: ModelStatic<Model>, type: unknown): PlainValue | undefined {
  const { key = '', _binary: isBinary } = dataTypeInternals(type)
  const plain = isBinary ? undefined : TYPES[key]
  return plain && model.sequelize?.getDialect() !== 'postgres' ? { ...plain, cast: uncast } : plain
}

const uncast = (placeholder: string) => placeholder

const INT32 = 2 ** 31

const isInteger = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value < INT32 && value >= -INT32

// As literals, Sequelize writes NUL as the two characters \0.
const isText = (value: unknown) => typeof value === 'string' && !value.includes('\0')

const integer: PlainValue = { isPlain: isInteger, cast: (placeholder) => `${placeholder}::integer` }
const text: PlainValue = { isPlain: isText, cast: uncast }

const TYPES: Readonly<Record<string, PlainValue>> = {
  INTEGER: integer,
  BIGINT: integer,
  STRING: text,
  TEXT: text,
  UUID: { isPlain: (value) => typeof value === 'string' && isStoredUuid(value), cast: uncast },
  BOOLEAN: {
    isPlain: (value) => typeof value === 'boolean',
    cast: (placeholder) => `${placeholder}::boolean`,
  },
}

/** Conditions that columns equal values, or are NULL. */
export interface Conditions {
  readonly shape: readonly Condition[]
  /** Different shapes have different keys. It has no spaces. */
  readonly key: string
  readonly values: readonly unknown[]
}

/** The name of an attribute, or its name and null for IS NULL. */
export type Condition = string | readonly [name: string, value: null]

const NONE: Conditions = { shape: [], key: '', values: [] }

/** Undefined for other conditions. */
export function conditionsOf({ comparable }: ModelPlan, where: unknown): Conditions | undefined {
  if (where === undefined || where === null) return NONE
  if (!isObjectLiteral(where)) return undefined
  const conditions = new ConditionList()
  const renamed: (readonly [name: string, value: unknown])[] = []
  for (const name of Object.keys(where)) {
    const value = where[name]
    const column = comparable.get(name)
    if (!column || (value !== null && !column.value.isPlain(value))) return undefined
    if (column.field === name) conditions.add(name, value)
    else renamed.push([name, value])
  }
  // Sequelize replaces the name of an attribute by that of its column, which then comes last.
  for (const [name, value] of renamed) conditions.add(name, value)
  return conditions
}

class ConditionList implements Conditions {
  readonly shape: Condition[] = []
  readonly values: unknown[] = []
  key = ''

  // PLAIN_NAME admits no comma, equals sign or space.
  add(name: string, value: unknown): void {
    if (value === null) {
      this.shape.push([name, null])
      this.key += `${name}=,`
    } else {
      this.shape.push(name)
      this.values.push(value)
      this.key += `${name},`
    }
  }
}

/** The conditions of a row's whole key, with values. */
export interface KeyConditions {
  readonly shape: readonly string[]
  readonly values: readonly unknown[]
}

/** Undefined if a value of the key is NULL, or needs Sequelize. */
export function keyConditions(
  { primaryKeyAttributes: key }: ModelStatic<Model>,
  plan: ModelPlan,
  row: Readonly<Record<string, unknown>>,
): KeyConditions | undefined {
  const conditions = conditionsOf(plan, Object.fromEntries(key.map((name) => [name, row[name]])))
  const shape = conditions?.shape.filter((condition) => typeof condition === 'string') ?? []
  return conditions && key.length > 0 && shape.length === key.length ? { shape, values: conditions.values } : undefined
}

/** The conditions with placeholders, for Sequelize's generator. */
export function toWhere({ comparable }: ModelPlan, shape: readonly Condition[]): Record<string, unknown> {
  let placeholders = 0
  return Object.fromEntries(
    shape.map((condition) => {
      const name = typeof condition === 'string' ? condition : condition[0]
      const { field, value } = comparable.get(name) as ComparableColumn // conditionsOf() has found it
      return [
        field,
        typeof condition === 'string' ? { [Op.eq]: literal(value.cast(`$${++placeholders}`)) } : null,
      ] as const
    }),
  )
}
