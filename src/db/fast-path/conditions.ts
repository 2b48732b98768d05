import { literal, type Model, type ModelStatic, Op } from 'sequelize'
import { isObjectLiteral } from '../../core/records.js'
import type { ComparableColumn, ModelPlan } from './model-plan.js'

/** Conditions that columns equal values, or are NULL. */
export interface Conditions {
  readonly shape: readonly Condition[]
  readonly values: readonly unknown[]
}

/** The name of an attribute, or its name and null for IS NULL. */
export type Condition = string | readonly [name: string, value: null]

const NONE: Conditions = { shape: [], values: [] }

/** Undefined for other conditions. */
export function conditionsOf({ comparable }: ModelPlan, where: unknown): Conditions | undefined {
  if (where === undefined || where === null) return NONE
  if (!isObjectLiteral(where)) return undefined
  // Sequelize replaces the name of an attribute by that of its column, which then comes last.
  const shape: Condition[] = []
  const values: unknown[] = []
  const renamedShape: Condition[] = []
  const renamedValues: unknown[] = []
  for (const name of Object.keys(where)) {
    const value = where[name]
    const column = comparable.get(name)
    if (!column || (value !== null && !column.value.isPlain(value))) return undefined
    const isRenamed = column.field !== name
    ;(isRenamed ? renamedShape : shape).push(value === null ? [name, null] : name)
    if (value !== null) (isRenamed ? renamedValues : values).push(value)
  }
  return { shape: [...shape, ...renamedShape], values: [...values, ...renamedValues] }
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
