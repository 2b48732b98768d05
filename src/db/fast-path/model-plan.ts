import type { DataType, Model, ModelStatic, Sequelize } from 'sequelize'
import { type ModelInternals, modelInternals } from '../sequelize/internals.js'
import { type PlainValue, plainValueOf, type RowValue, rowValueOf } from './column-values.js'
import { isPlainTable } from './plain-tables.js'

/** The facts that all compiled statements of a model share. */
export interface ModelPlan {
  readonly names: readonly string[]
  /** As in `attributes` of Sequelize's find options. */
  readonly columns: readonly (string | readonly [field: string, name: string])[]
  /** The columns that a condition may compare with a value, by the names of their attributes. */
  readonly comparable: ReadonlyMap<string, ComparableColumn>
  /** The attributes of which a value is that of at most one row. */
  readonly uniqueNames: ReadonlySet<string>
  /** The order of a page without one: by the primary key. */
  readonly keyOrder: readonly (readonly [name: string, direction: 'ASC'])[]
  /** The columns of a new row; undefined if Sequelize has to write the rows. */
  readonly rowColumns: readonly RowColumn[] | undefined
  /** Whether its rows do not depend on the transaction that reads them, as those of a view may. */
  readonly isOfPlainTable: boolean
  /** The SQL of statements by their shapes. */
  readonly sql: Map<string, string>
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
    sql: new Map(),
  }
}

// Sequelize reads dots and dollars in the name of a column as a path.
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

/** How many shapes of statements of one model are kept. A program has few. */
const MAX_SHAPES = 200

/** The SQL of a shape, which is generated once. */
export function sqlOf({ sql: known }: ModelPlan, key: string, make: () => string): string {
  const sql = known.get(key) ?? make()
  if (known.size >= MAX_SHAPES && !known.has(key)) known.clear()
  known.set(key, sql)
  return sql
}
