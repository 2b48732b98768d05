import {
  type Model,
  type ModelAttributeColumnOptions,
  type ModelStatic,
  type Sequelize,
  ValidationError,
  ValidationErrorItem,
} from 'sequelize'
import { columnShape } from '../../models/column-shape.js'
import type { Shape } from '../../../schema/shape/shape.js'

type Values = Readonly<Record<string, unknown>>

/**
 * SQLite holds whatever it is given, in a column of any type. What a model is given that no other database would hold, such as an INTEGER
 * beyond 32 bits, is refused before it is written.
 */
export function keepBounds(sequelize: Sequelize): void {
  sequelize.addHook('beforeSave', (instance: Model) => refuse(instance.constructor, instance.dataValues, instance))
  sequelize.addHook('beforeBulkCreate', (instances: readonly Model[]) => {
    for (const instance of instances) refuse(instance.constructor, instance.dataValues, instance)
  })
  sequelize.addHook('beforeUpsert', (_, options) => {
    const { instance } = options as { instance?: Model } // Sequelize's types do not tell of it, nor of those below
    if (instance) refuse(instance.constructor, instance.dataValues, instance)
  })
  sequelize.addHook('beforeBulkUpdate', (options) => {
    const { model, attributes = {} } = options as { model?: unknown; attributes?: Values }
    refuse(model, attributes, null)
  })
}

function refuse(model: unknown, values: Values, instance: Model | null): void {
  const bounds = boundsOf(model as ModelStatic<Model>)
  const items = Object.entries(values).flatMap(([name, value]) => {
    const message = bounds.get(name)?.(value)
    return message === undefined ? [] : [itemOf(message, name, value, instance)]
  })
  if (items.length > 0) throw new ValidationError('A value is out of the bounds of its column.', items)
}

function itemOf(message: string, name: string, value: unknown, instance: Model | null): ValidationErrorItem {
  // Of an update of many rows there is no instance; Sequelize's types want one.
  return new ValidationErrorItem(
    message,
    'validation error',
    name,
    value as string,
    instance as Model,
    'bounds',
    'bounds',
    [],
  )
}

/** What is wrong with a value; undefined for one that fits, or of which the bounds say nothing. */
type Bounds = (value: unknown) => string | undefined

const known = new WeakMap<ModelStatic<Model>, ReadonlyMap<string, Bounds>>()

function boundsOf(model: ModelStatic<Model>): ReadonlyMap<string, Bounds> {
  const made = known.get(model)
  if (made) return made
  const columns = Object.entries(model.getAttributes()).flatMap(
    ([name, { type }]: [string, ModelAttributeColumnOptions]) => {
      const bounds = compileBounds(columnShape({ type }))
      return bounds ? [[name, bounds] as const] : []
    },
  )
  const bounds = new Map(columns)
  known.set(model, bounds)
  return bounds
}

function compileBounds(shape: Shape): Bounds | undefined {
  switch (shape.kind) {
    case 'integer':
    case 'number': {
      const { minimum = -Infinity, maximum = Infinity } = shape
      return (value) => outside(toNumber(value), minimum, maximum)
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
      const [least, most] = shape.format === 'uint64' ? [0n, 2n ** 64n - 1n] : [-(2n ** 63n), 2n ** 63n - 1n]
      return (value) => outside(toBigint(value), least, most)
    }
    case 'decimal': {
      const { digits } = shape
      if (!digits) return undefined
      const most = 10 ** digits.whole
      return (value) => {
        const number = toNumber(value)
        const rounded = number === undefined ? 0 : Math.abs(Number(number.toFixed(digits.fraction)))
        return rounded < most ? undefined : `must have at most ${digits.whole} digits before the point`
      }
    }
    default:
      return undefined
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

function outside<N extends number | bigint>(value: N | undefined, least: N, most: N): string | undefined {
  if (value === undefined) return undefined
  return value < least ? `must be >= ${least}` : value > most ? `must be <= ${most}` : undefined
}

// What is no number at all is left to the database.
function toNumber(value: unknown): number | undefined {
  const number = typeof value === 'number' || typeof value === 'bigint' || isDigits(value) ? Number(value) : NaN
  return Number.isNaN(number) ? undefined : number
}

function toBigint(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value
  return Number.isInteger(value) || (isDigits(value) && /^-?\d+$/.test(value)) ? BigInt(value as string) : undefined
}

function isDigits(value: unknown): value is string {
  return typeof value === 'string' && /^\s*[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?\s*$/i.test(value)
}

// Counted as databases do, and only where it could matter: a character may take two units of the text.
function isLonger(value: unknown, most: number): boolean {
  return typeof value === 'string' && value.length > most && [...value].length > most
}
