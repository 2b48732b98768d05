import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { type ModelInternals, modelInternals } from '../../sequelize/internals.js'
import { type PlainValue, plainValueOf } from './plain-values.js'

/** What all compiled statements of a model have in common. */
export interface ModelPlan {
  readonly names: readonly string[]
  /** As in `attributes` of Sequelize's find options. */
  readonly columns: readonly (string | readonly [field: string, name: string])[]
  /** The columns that a condition may compare with a value, by the names of their attributes. */
  readonly comparable: ReadonlyMap<string, ComparableColumn>
  /** The attributes of which a value is that of at most one row. */
  readonly uniqueNames: ReadonlySet<string>
  /** The SQL of statements by their shapes. */
  readonly sql: Map<string, string>
}

export interface ComparableColumn {
  readonly field: string
  readonly value: PlainValue
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
