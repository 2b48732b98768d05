import {
  type Model,
  type ModelAttributeColumnOptions,
  type ModelStatic,
  type Sequelize,
  ValidationError,
  ValidationErrorItem,
} from 'sequelize'
import { columnShape } from '../../models/column-shape.js'
import { modelOf } from '../../sequelize/internals.js'
import type { Shape } from '../../../schema/shape/shape.js'

type Values = Readonly<Record<string, unknown>>

/**
 * Rejects values that do not fit the type of their column before a model writes them, such as an INTEGER beyond 32 bits. SQLite would store
 * them; all other databases reject them.
 */
export function enforceColumnBounds(sequelize: Sequelize): void {
  sequelize.addHook('beforeSave', (instance: Model) => checkInstance(instance))
  sequelize.addHook('beforeBulkCreate', (instances: readonly Model[]) => {
    for (const instance of instances) checkInstance(instance)
  })
  sequelize.addHook('beforeUpsert', (_, options: object) => {
    const { instance }: UntypedOptions = options
    if (instance) checkInstance(instance)
  })
  sequelize.addHook('beforeBulkUpdate', (options: object) => {
    const { model, attributes = {} }: UntypedOptions = options
    if (model) checkValues(model, attributes, null)
  })
}

/** Options of these hooks that Sequelize's types leave out. */
interface UntypedOptions {
  readonly instance?: Model
  readonly model?: ModelStatic<Model>
  readonly attributes?: Values
}

function checkInstance(instance: Model): void {
  checkValues(modelOf(instance), instance.dataValues, instance)
}

function checkValues(model: ModelStatic<Model>, values: Values, instance: Model | null): void {
  const checks = checksOf(model)
  const items = Object.entries(values).flatMap(([name, value]) => {
    const message = checks.get(name)?.(value)
    return message === undefined ? [] : [itemOf(message, name, value, instance)]
  })
  if (items.length > 0) throw new ValidationError('A value is out of the bounds of its column.', items)
}

function itemOf(message: string, name: string, value: unknown, instance: Model | null): ValidationErrorItem {
  return new ValidationErrorItem(
    message,
    'validation error',
    name,
    value as string, // Sequelize passes any value here
    instance as Model, // null in an update of many rows, as Sequelize does
    'bounds',
    'bounds',
    [],
  )
}

/** Returns what is wrong with a value; undefined if it fits, or has a type that the bounds do not apply to. */
type BoundsCheck = (value: unknown) => string | undefined

const checksByModel = new WeakMap<ModelStatic<Model>, ReadonlyMap<string, BoundsCheck>>()

function checksOf(model: ModelStatic<Model>): ReadonlyMap<string, BoundsCheck> {
  const known = checksByModel.get(model)
  if (known) return known
  const columns = Object.entries(model.getAttributes()).flatMap(
    ([name, { type }]: [string, ModelAttributeColumnOptions]) => {
      const check = compileCheck(columnShape({ type }))
      return check ? [[name, check] as const] : []
    },
  )
  const checks = new Map(columns)
  checksByModel.set(model, checks)
  return checks
}

function compileCheck(shape: Shape): BoundsCheck | undefined {
  switch (shape.kind) {
    case 'integer':
    case 'number': {
      const { minimum = -Infinity, maximum = Infinity } = shape
      return (value) => outOfRange(toNumber(value), minimum, maximum)
    }
    case 'string': {
      const { maxLength = Infinity, format } = shape
      if (format === 'uuid')
        return (value) => (typeof value !== 'string' || UUID.test(value) ? undefined : 'must be a UUID')
      return (value) => (isLonger(value, maxLength) ? `must have at most ${maxLength} characters` : undefined)
    }
    case 'enum':
      return (value) =>
        typeof value !== 'string' || shape.values.includes(value)
          ? undefined
          : `must be one of ${shape.values.join(', ')}`
    case 'bigint': {
      const [min, max] = shape.format === 'uint64' ? [0n, 2n ** 64n - 1n] : [-(2n ** 63n), 2n ** 63n - 1n]
      return (value) => outOfRange(toBigint(value), min, max)
    }
    case 'decimal': {
      const { digits } = shape
      if (!digits) return undefined
      const limit = 10 ** digits.whole
      return (value) => {
        const number = toNumber(value)
        const rounded = number === undefined ? 0 : Math.abs(Number(number.toFixed(digits.fraction)))
        return rounded < limit ? undefined : `must have at most ${digits.whole} digits before the point`
      }
    }
    default:
      return undefined
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function outOfRange<N extends number | bigint>(value: N | undefined, min: N, max: N): string | undefined {
  if (value === undefined) return undefined
  return value < min ? `must be >= ${min}` : value > max ? `must be <= ${max}` : undefined
}

// A value that is not a number is left to the database.
function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'number' || typeof value === 'bigint' || isNumeric(value) ? Number(value) : NaN
  return Number.isNaN(number) ? undefined : number
}

function toBigint(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined
  return isNumeric(value) && /^-?\d+$/.test(value) ? BigInt(value) : undefined
}

function isNumeric(value: unknown): value is string {
  return typeof value === 'string' && /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)
}

// Databases count characters, JavaScript counts UTF-16 units, of which a character has one or two.
function isLonger(value: unknown, max: number): boolean {
  return typeof value === 'string' && value.length > max && [...value].length > max
}
