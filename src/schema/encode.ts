import { DECIMAL_TEXT, INTEGER_TEXT } from './json-schema.js'
import type { ObjectShape, Shape } from './shape.js'
import { escapePointer } from './validate.js'

/** A value that does not fit the declared response. `path` is a JSON Pointer to it. */
export class MisfitError extends Error {
  override name = 'MisfitError'
  readonly path: string
  readonly reason: string

  constructor(path: string, reason: string) {
    super(`${path || '/'} ${reason}`)
    this.path = path
    this.reason = reason
  }

  static at(key: string | number, error: unknown): unknown {
    return error instanceof MisfitError
      ? new MisfitError(`/${escapePointer(String(key))}${error.path}`, error.reason)
      : error
  }
}

/** Turns what a handler returned into plain JSON values: only declared properties, the same types on every dialect. */
export type Encode = (value: unknown) => unknown

/** Compiles the encoder of a shape. @throws MisfitError (the encoder) for a value that does not fit the shape. */
export function compileEncoder(shape: Shape): Encode {
  return new EncoderCompiler().compile(shape)
}

class EncoderCompiler {
  readonly #objects = new Map<unknown, Encode>()

  compile(shape: Shape): Encode {
    const encode = this.#plain(shape)
    const { nullable } = shape
    return (value) => {
      if (value === null || value === undefined) {
        if (nullable || shape.kind === 'any') return null
        throw new MisfitError('', `is ${value === null ? 'null' : 'missing'}, declared ${shape.kind}`)
      }
      return encode(value)
    }
  }

  #plain(shape: Shape): Encode {
    switch (shape.kind) {
      case 'string':
        return (value) => (typeof value === 'string' ? value : misfit(value, 'string'))
      case 'integer':
        return encodeInteger
      case 'number':
        return (value) => (typeof value === 'number' && Number.isFinite(value) ? value : misfit(value, 'number'))
      case 'boolean':
        return encodeBoolean
      case 'enum':
        return (value) =>
          shape.values.includes(value as string) ? value : misfit(value, `one of ${shape.values.join(', ')}`)
      case 'date-time':
        return encodeDateTime
      case 'date':
        return encodeDay
      case 'bigint':
        return (value) => digits(value, INTEGER, 'bigint')
      case 'decimal':
        return (value) => digits(value, DECIMAL, 'decimal')
      case 'bytes':
        return (value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : misfit(value, 'bytes'))
      case 'array': {
        const item = this.compile(shape.items)
        return (value) => encodeArray(value, item)
      }
      case 'object':
        return this.#object(shape)
      case 'any':
        return (value) => value
    }
  }

  #object(shape: ObjectShape): Encode {
    const known = this.#objects.get(shape.origin)
    if (known) return known
    const properties: [name: string, optional: boolean, encode: Encode][] = []
    const encode: Encode = (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return misfit(value, shape.name)
      const source = (shape.read ? shape.read(value) : value) as Record<string, unknown>
      const target: Record<string, unknown> = {}
      for (const [name, optional, encodeProperty] of properties) {
        const property = source[name]
        if (property === undefined && optional) continue
        try {
          target[name] = encodeProperty(property)
        } catch (error) {
          throw MisfitError.at(name, error)
        }
      }
      return target
    }
    this.#objects.set(shape.origin, encode) // known before its properties: they may refer to it
    for (const [name, property] of shape.properties())
      properties.push([name, property.optional, this.compile(property.shape)])
    return encode
  }
}

const INTEGER = new RegExp(INTEGER_TEXT)
const DECIMAL = new RegExp(DECIMAL_TEXT)
const DAY = /^\d{4}-\d{2}-\d{2}$/

function misfit(value: unknown, declared: string): never {
  throw new MisfitError('', `is ${describe(value)}, declared ${declared}`)
}

function describe(value: unknown): string {
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : (value?.constructor?.name ?? 'an object')
  return typeof value === 'number' || typeof value === 'bigint' ? `the ${typeof value} ${value}` : `a ${typeof value}`
}

function encodeInteger(value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value)) return value
  if (typeof value === 'bigint' && Number.isSafeInteger(Number(value))) return Number(value)
  return misfit(value, 'integer')
}

// Rows read without a model carry SQLite's and MySQL's booleans as 0 and 1.
function encodeBoolean(value: unknown): unknown {
  if (typeof value === 'boolean') return value
  return value === 0 || value === 1 ? value === 1 : misfit(value, 'boolean')
}

function encodeDateTime(value: unknown): unknown {
  const date = value instanceof Date ? value : typeof value === 'string' ? new Date(value) : undefined
  return date && !Number.isNaN(date.getTime()) ? date.toISOString() : misfit(value, 'date-time')
}

function encodeDay(value: unknown): unknown {
  if (typeof value === 'string' && DAY.test(value)) return value
  return value instanceof Date && !Number.isNaN(value.getTime())
    ? value.toISOString().slice(0, 10)
    : misfit(value, 'date')
}

function digits(value: unknown, pattern: RegExp, declared: string): unknown {
  const text =
    typeof value === 'string' ? value : typeof value === 'bigint' || Number.isFinite(value) ? String(value) : ''
  return pattern.test(text) ? text : misfit(value, declared)
}

function encodeArray(value: unknown, encode: Encode): unknown {
  if (!Array.isArray(value)) return misfit(value, 'array')
  return value.map((item, index) => {
    try {
      return encode(item)
    } catch (error) {
      throw MisfitError.at(index, error)
    }
  })
}
