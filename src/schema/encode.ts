import { escapePointer, isDayText, isDecimalText, isIntegerText, isPointInTimeText } from './grammar.js'
import { lazily } from './lazily.js'
import { isInherited, valueOf } from './property.js'
import { type ObjectShape, propertiesOf, type Shape, type StringShape, type UnionShape } from './shape.js'
import { type StandardSchema, toIssues } from './standard.js'
import { stringifyUndeclared, UndeclaredError } from './undeclared.js'

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
        if (shape.kind === 'standard' && !(nullable && value === null)) return encode(value)
        if (nullable || shape.kind === 'any') return null
        throw new MisfitError('', `is ${value === null ? 'null' : 'missing'}, declared ${shape.kind}`)
      }
      return encode(value)
    }
  }

  #plain(shape: Shape): Encode {
    switch (shape.kind) {
      case 'string':
        return stringEncoder(shape)
      case 'integer':
        return encodeInteger
      case 'number':
        return encodeNumber
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
        return encodeBigint
      case 'decimal': {
        const { digits } = shape
        return digits ? (value) => toScale(encodeDecimal(value), digits.fraction) : encodeDecimal
      }
      case 'bytes':
        return (value) => (value instanceof Uint8Array ? Buffer.from(value).toString('base64') : misfit(value, 'bytes'))
      case 'array': {
        const item = this.compile(shape.items)
        return (value) => encodeArray(value, item)
      }
      case 'object':
        return this.#object(shape)
      case 'union':
        return this.#union(shape)
      case 'standard':
        return (value) => encodeStandard(value, shape.schema)
      case 'any':
        return encodeAny
    }
  }

  #union({ discriminator, options }: UnionShape): Encode {
    const encoders = lazily(() => new Map([...options()].map(([tag, option]) => [tag, this.compile(option)])))
    return (value) => {
      const tag: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, discriminator) : undefined
      const encode = encoders().get(tag)
      if (encode) return encode(value)
      const tags = [...encoders().keys()].join(', ')
      throw new MisfitError(`/${escapePointer(discriminator)}`, `is ${String(tag)}, declared one of ${tags}`)
    }
  }

  #object(shape: ObjectShape): Encode {
    const known = this.#objects.get(shape.origin)
    if (known) return known
    const properties: EncodedProperty[] = []
    // Named like what every object inherits: the writer must not find that in place of a missing one.
    let clashes = false
    const encode: Encode = (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return misfit(value, shape.name)
      const source = (shape.read ? shape.read(value) : value) as Record<string, unknown>
      const target = (clashes ? Object.create(null) : {}) as Record<string, unknown>
      for (const { name, optional, inherited, encode: encodeProperty } of properties) {
        const property = valueOf(source, name, inherited)
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
    for (const [name, { shape: inner, optional }] of propertiesOf(shape, 'output')) {
      properties.push({ name, optional, inherited: isInherited(name), encode: this.compile(inner) })
      clashes ||= isInherited(name)
    }
    return encode
  }
}

interface EncodedProperty {
  readonly name: string
  readonly optional: boolean
  readonly inherited: boolean
  readonly encode: Encode
}

function misfit(value: unknown, declared: string): never {
  throw new MisfitError('', `is ${describe(value)}, declared ${declared}`)
}

function describe(value: unknown): string {
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : (value?.constructor?.name ?? 'an object')
  return typeof value === 'number' || typeof value === 'bigint' ? `the ${typeof value} ${value}` : `a ${typeof value}`
}

function stringEncoder({ padded, binary }: StringShape): Encode {
  if (binary) return (value) => encodeString(value instanceof Uint8Array ? Buffer.from(value).toString() : value)
  return padded ? (value) => encodeString(value).replace(/ +$/, '') : encodeString
}

function encodeString(value: unknown): string {
  return typeof value === 'string' ? value : misfit(value, 'string')
}

// PostgreSQL's driver gives count(*) and sums as text, as they could be larger than a number.
function toNumber(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  return typeof value === 'string' && isDecimalText(value) ? Number(value) : value
}

// Beyond 2^53 a number is not the one that was stored: 'bigint' carries all digits.
function encodeInteger(value: unknown): unknown {
  const number = toNumber(value)
  return Number.isSafeInteger(number) ? number : misfit(value, 'integer')
}

function encodeNumber(value: unknown): unknown {
  const number = toNumber(value)
  return Number.isFinite(number) ? number : misfit(value, 'number')
}

// Rows read without a model carry SQLite's and MySQL's booleans as 0 and 1.
function encodeBoolean(value: unknown): unknown {
  if (typeof value === 'boolean') return value
  return value === 0 || value === 1 ? value === 1 : misfit(value, 'boolean')
}

// Rows read without a model carry SQLite's times as text, in UTC whether they say so or not.
const TIME_TEXT = /^(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2}:\d{2}(?:\.\d+)?) ?(Z|[+-]\d{2}:\d{2})?$/

function encodeDateTime(value: unknown): unknown {
  const text = typeof value === 'string' ? value.replace(TIME_TEXT, '$1T$2$3') : undefined
  const zoned = text?.replace(/T[\d:.]+$/, '$&Z')
  const date = zoned !== undefined && isPointInTimeText(zoned) ? new Date(zoned) : value
  return isWritable(date) ? date.toISOString() : misfit(value, 'date-time')
}

function encodeDay(value: unknown): unknown {
  if (typeof value === 'string' && isDayText(value)) return value
  return isWritable(value) ? value.toISOString().slice(0, 10) : misfit(value, 'date')
}

// ISO 8601 as JSON Schema has it writes a year with four digits.
function isWritable(value: unknown): value is Date {
  if (!(value instanceof Date)) return false
  const year = value.getUTCFullYear() // NaN, and so outside, for an invalid date
  return year >= 0 && year <= 9999
}

function encodeBigint(value: unknown): unknown {
  const text = typeof value === 'bigint' || Number.isSafeInteger(value) ? String(value) : value
  return typeof text === 'string' && isIntegerText(text) ? text : misfit(value, 'bigint')
}

function encodeDecimal(value: unknown): string {
  const text = typeof value === 'bigint' ? String(value) : Number.isFinite(value) ? plainDigits(value as number) : value
  return typeof text === 'string' && isDecimalText(text) ? text : misfit(value, 'decimal')
}

// SQLite drops the zeros at the end, others write them; a value that was not saved yet has the digits that it was given.
function toScale(text: string, scale: number): string {
  const [, sign = '', whole = '', fraction = ''] = /^(-?)(\d+)\.?(\d*)$/.exec(text) ?? []
  const kept = BigInt(whole + fraction.slice(0, scale).padEnd(scale, '0'))
  const rounded = (fraction[scale] ?? '0') >= '5' ? kept + 1n : kept // away from zero, as databases do
  const digits = String(rounded).padStart(scale + 1, '0')
  const point = digits.length - scale
  return `${rounded === 0n ? '' : sign}${digits.slice(0, point)}${scale > 0 ? '.' : ''}${digits.slice(point)}`
}

/** '0.00000015' for 1.5e-7, which String() writes with an exponent. */
function plainDigits(number: number): string {
  const [, sign = '', whole = '', fraction = '', exponent] = /^(-?)(\d+)\.?(\d*)e([+-]\d+)$/.exec(String(number)) ?? []
  if (exponent === undefined) return String(number)
  const digits = whole + fraction
  const point = whole.length + Number(exponent)
  return point > 0 ? sign + digits.padEnd(point, '0') : `${sign}0.${'0'.repeat(-point)}${digits}`
}

function encodeStandard(value: unknown, schema: StandardSchema): unknown {
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise)
    throw new TypeError(
      `A response was declared by a schema of ${schema['~standard'].vendor} that checks asynchronously. Do that before returning, and declare a schema without it.`,
    )
  if (!result.issues) return encodeAny(result.value)
  const [issue] = toIssues(result.issues)
  throw new MisfitError(issue?.path ?? '', issue?.message ?? 'does not fit')
}

// What was checked is what is sent: toJSON() is not asked a second time.
function encodeAny(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value
  const text = typeof value === 'object' ? writeAny(value) : undefined
  return text === undefined ? misfit(value, 'any JSON value') : JSON.parse(text)
}

function writeAny(value: unknown): string | undefined {
  try {
    return stringifyUndeclared(value)
  } catch (error) {
    if (!(error instanceof UndeclaredError)) throw error
    const { name } = error.type
    throw new MisfitError(
      '',
      `holds a ${name}, declared any JSON value, so that nothing says which of its properties are public. ` +
        `Declare them: @Field({ type: ${name} }), or copy those that are`,
    )
  }
}

function encodeArray(value: unknown, encode: Encode): unknown {
  if (!Array.isArray(value)) return misfit(value, 'array')
  // Array.from: map() would leave the holes of a sparse array.
  return Array.from(value, (item, index) => {
    try {
      return encode(item)
    } catch (error) {
      throw MisfitError.at(index, error)
    }
  })
}
