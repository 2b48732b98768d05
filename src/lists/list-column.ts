import type { Model, ModelStatic } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { meant } from '../core/options.js'
import { associationsOf } from '../db/models/associations.js'
import { columnShape, isVirtual } from '../db/models/column-shape.js'
import { columnsOf } from '../db/models/columns.js'
import { dataTypeInternals } from '../db/sequelize/internals.js'
import type { Shape } from '../schema/shape/shape.js'
import type { ListOperator } from './options.js'

type AnyModel = ModelStatic<Model>

/** A column that clients may filter, sort or choose by. */
export interface ListColumn {
  /** As clients write it: `team.city`. */
  readonly path: string
  /** The associations that lead to its model: `['team']`. */
  readonly steps: readonly string[]
  readonly model: AnyModel
  readonly attribute: string
  /** The shape of its values, without the rules of the model, which older rows may violate. */
  readonly shape: Shape
  readonly operators: readonly ListOperator[]
  /** Whether it holds text whose case is significant on every database. */
  readonly isText: boolean
  /** Removes the spaces at the end of a CHAR, which are neither sent nor compared. Undefined for other columns. */
  readonly unpad: ((text: string) => string) | undefined
  readonly nullable: boolean
}

/** The longest string of a filter, in characters, for columns without a length. */
const MAX_TEXT = 1_000

/** The most associations of a path. */
const MAX_STEPS = 2

/**
 * Resolves a path from a model to a column.
 *
 * @param where the option, for messages.
 * @throws BootError for a path that leads to no column, to several rows, or to a column that cannot be compared.
 */
export function listColumn(root: AnyModel, path: string, where: string): ListColumn {
  const steps = path.split('.')
  const attribute = steps.pop() ?? ''
  if (steps.length > MAX_STEPS)
    throw new BootError(`${where}: '${path}' has more than ${MAX_STEPS} associations. Write a shorter path.`)
  const model = steps.reduce((from, step) => oneRowOf(from, step, path, where), root)
  const column = columnAt(model, attribute, path, where)
  const shape = columnShape({ type: column.type })
  const { key = '' } = dataTypeInternals(column.type)
  const isText = TEXTS.has(key)
  const nullable = steps.length > 0 || (column.allowNull !== false && column.primaryKey !== true)
  const operators = operatorsOf(shape, key, nullable)
  if (!operators || ('binary' in shape && shape.binary === true))
    throw new BootError(`${where}: the values of '${path}' cannot be compared with a string of the query. Remove it.`)
  return {
    path,
    steps,
    model,
    attribute,
    shape: bounded(shape),
    operators,
    isText,
    unpad: unpadding(shape, key),
    nullable,
  }
}

/** The column that a property of a model is. @throws BootError for other names. */
function columnAt(model: AnyModel, attribute: string, path: string, where: string) {
  const columns = Object.entries(columnsOf(model)).filter(([, { type }]) => !isVirtual(type))
  const column = new Map(columns).get(attribute)
  if (column) return column
  const names = columns.map(([name]) => name)
  throw new BootError(`${where}: '${path}': ${model.name} has no column '${attribute}'. ${meant(attribute, names)}`)
}

function oneRowOf(model: AnyModel, step: string, path: string, where: string): AnyModel {
  const { target, many } = associationAt(model, step, path, where)
  if (many)
    throw new BootError(
      `${where}: '${path}': ${model.name}.${step} has many rows for one of ${model.name}. ` +
        `Write a column of ${model.name}, or of a model that it belongs to.`,
    )
  return target()
}

/** The association of a model with this name. @throws BootError if it has none. */
export function associationAt(model: AnyModel, step: string, path: string, where: string) {
  const associations = associationsOf(model)
  const association = associations.find(({ name }) => name === step)
  if (association) return association
  const names = associations.map(({ name }) => name)
  const hint = names.length > 0 ? meant(step, names) : 'It has none.'
  throw new BootError(`${where}: '${path}': ${model.name} has no association '${step}'. ${hint}`)
}

const TEXTS: ReadonlySet<string> = new Set(['STRING', 'CHAR', 'TEXT', 'CITEXT'])

const EQUALITY = ['eq', 'ne', 'in'] as const
const COMPARISON = ['lt', 'lte', 'gt', 'gte'] as const

// Text is not compared by lt and gt: its order differs between databases, and between the languages of one.
function operatorsOf(shape: Shape, key: string, nullable: boolean): readonly ListOperator[] | undefined {
  const none = nullable ? (['null'] as const) : []
  switch (shape.kind) {
    case 'integer':
    case 'number':
    case 'bigint':
    case 'decimal':
    case 'date-time':
    case 'date':
      return [...EQUALITY, ...COMPARISON, ...none]
    case 'string':
      return [...EQUALITY, ...operatorsOfString(key), ...none]
    case 'enum':
      return [...EQUALITY, ...none]
    case 'boolean':
      return ['eq', 'ne', ...none]
    default:
      return undefined
  }
}

function operatorsOfString(key: string): readonly ListOperator[] {
  if (key === 'TIME') return COMPARISON
  return TEXTS.has(key) ? ['contains', 'startsWith'] : []
}

function unpadding(shape: Shape, key: string): ListColumn['unpad'] {
  return key === 'CHAR' && shape.kind === 'string' ? shape.asStored : undefined
}

function bounded(shape: Shape): Shape {
  return shape.kind === 'string' ? { ...shape, maxLength: Math.min(shape.maxLength ?? MAX_TEXT, MAX_TEXT) } : shape
}
