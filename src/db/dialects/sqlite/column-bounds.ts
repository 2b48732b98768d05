import {
  type Model,
  type ModelAttributeColumnOptions,
  type ModelStatic,
  type Sequelize,
  ValidationError,
  ValidationErrorItem,
} from 'sequelize'
import { bigintBounds, columnShape } from '../../models/column-shape.js'
import { modelOf } from '../../sequelize/internals.js'
import { CHECK_BOUNDS } from '../../sequelize/own-hooks.js'
import { currentScope } from '../../session/current-scope.js'
import { isNumeric, isUuid } from '../../sql/values.js'
import type { Shape } from '../../../schema/shape/shape.js'

type Values = Readonly<Record<string, unknown>>

/**
 * Rejects values that do not fit the type of their column before a model writes them, such as an INTEGER beyond 32 bits. SQLite would store
 * them; all other databases reject them.
 */
export function enforceColumnBounds(sequelize: Sequelize): void {
  // On the other databases the statement is sent: it is refused after another one has failed, and fails, so that the later ones are refused.
  const check = ({ transaction }: UntypedOptions, work: () => void) => {
    try {
      work()
    } catch (error) {
      const scope = transaction === null ? undefined : currentScope(sequelize)
      throw scope ? scope.refuse(error) : error
    }
  }
  sequelize.addHook('beforeSave', CHECK_BOUNDS, (instance: Model, options: object) =>
    check(options, () => checkInstance(instance)),
  )
  sequelize.addHook('beforeBulkCreate', (instances: readonly Model[], options: object) =>
    check(options, () => instances.forEach(checkInstance)),
  )
  sequelize.addHook('beforeUpsert', (_, options: UntypedOptions) => {
    const { instance } = options
    if (instance) check(options, () => checkInstance(instance))
  })
  sequelize.addHook('beforeBulkUpdate', (options: UntypedOptions) => {
    const { model, attributes = {} } = options
    if (model) check(options, () => checkValues(model, attributes, null))
  })
}

/** Options of these hooks that Sequelize's types leave out. */
interface UntypedOptions {
  readonly transaction?: object | null
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
  if (items.length === 0) return
  const bounds = items.map(({ path, message }) => `${model.name}.${path} ${message}`)
  throw new ValidationError(`A value is out of the bounds of its column: ${bounds.join('; ')}.`, items)
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
      const check = compileCheck(columnShape({ type }), type)
      return check ? [[name, check] as const] : []
    },
  )
  const checks = new Map(columns)
  checksByModel.set(model, checks)
  return checks
}

function compileCheck(shape: Shape, type: unknown): BoundsCheck | undefined {
  switch (shape.kind) {
    case 'integer':
    case 'number': {
      const { minimum = -Infinity, maximum = Infinity } = shape
      return (value) => outOfRange(toNumber(value), minimum, maximum)
    }
    case 'string': {
      const { maxLength = Infinity, format } = shape
      if (format === 'uuid')
        return (value) => (typeof value !== 'string' || isUuid(value) ? undefined : 'must be a UUID')
      return (value) => (isLonger(value, maxLength) ? `must have at most ${maxLength} characters` : undefined)
    }
    case 'enum':
      return (value) =>
        typeof value !== 'string' || shape.values.includes(value)
          ? undefined
          : `must be one of ${shape.values.join(', ')}`
    case 'bigint': {
      const [min, max] = bigintBounds(type)
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

function outOfRange<N extends number | bigint>(value: N | undefined, min: N, max: N): string | undefined {
  if (value === undefined) return undefined
  return value < min ? `must be >= ${min}` : value > max ? `must be <= ${max}` : undefined
}

// A value that is not a number is left to the database.
function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'number' || typeof value === 'bigint' || isNumericString(value) ? Number(value) : NaN
  return Number.isNaN(number) ? undefined : number
}

function toBigint(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  if (typeof value === 'number') return Number.isInteger(value) ? BigInt(value) : undefined
  return typeof value === 'string' && /^-?\d+$/.test(value) ? BigInt(value) : undefined
}

function isNumericString(value: unknown): boolean {
  return typeof value === 'string' && isNumeric(value)
}

// Databases count characters, JavaScript counts UTF-16 units, of which a character has one or two.
function isLonger(value: unknown, max: number): boolean {
  const text = typeof value === 'number' ? String(value) : value
  return typeof text === 'string' && text.length > max && [...text].length > max
}
