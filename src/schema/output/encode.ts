import { isPlainRecord } from '../../core/records.js'
import { compileConstraint } from './constraints.js'
import { encodeAny } from './encode-any.js'
import { standardEncoder } from './encode-standard.js'
import { escapePointer } from '../../core/json-pointer.js'
import { memo } from '../../core/memo.js'
import { compilePlainObject, type EncodePlain, type PlainProperty } from './plain-object.js'
import { readingOf } from './record-reading.js'
import { describeRecord, refuseMismatch, ResponseMismatchError } from './response-mismatch.js'
import { isInherited, valueOf } from '../shape/inherited-names.js'
import {
  encodeBigint,
  encodeBoolean,
  encodeDateTime,
  encodeDay,
  encodeDecimal,
  encodeInteger,
  encodeNumber,
  stringEncoder,
  toScale,
  withoutZeroSign,
} from './scalars.js'
import {
  type Direction,
  isOmissible,
  type ObjectShape,
  propertiesOf,
  type Shape,
  type UnionShape,
} from '../shape/shape.js'

export { ResponseMismatchError } from './response-mismatch.js'

/** Converts a returned value to plain JSON values: only the declared properties, of the same types on every database. */
export type Encode = (value: unknown) => unknown

interface EncoderOptions {
  /** Whether values must meet the constraints of the shape, as those of responses must. Default: true. */
  readonly checks?: boolean
  /** Whether objects are encoded by generated code, which is faster and does the same. Default: true. */
  readonly generated?: boolean
  /** Whether objects are rows of a statement: a column that they lack was not read. Default: false. */
  readonly rows?: boolean
  /** Whether the properties are those that a client receives, or those of an input, which may leave out what has a default. Default: 'output'. */
  readonly direction?: Direction
}

/** Compiles the encoder of a shape. The encoder throws a ResponseMismatchError for a value of another type. */
export function compileEncoder(shape: Shape, options: EncoderOptions = {}): Encode {
  return new EncoderCompiler(options).compile(shape)
}

/** Writes a returned value as JSON. */
export type Stringify = (value: unknown) => string

/**
 * The writer of a shape, compiled at its first value: writing the OpenAPI document has found what is wrong with the shape. The writer throws a
 * ResponseMismatchError for a value that does not match the shape.
 */
export function compileStringify(shape: Shape, options?: EncoderOptions): Stringify {
  let encode: Encode | undefined
  return (value) => JSON.stringify((encode ??= compileEncoder(shape, options))(value))
}

class EncoderCompiler {
  readonly #objects = new Map<unknown, Encode>()
  readonly #checks: boolean
  readonly #generated: boolean
  readonly #rows: boolean
  readonly #direction: Direction

  constructor({ checks = true, generated = true, rows = false, direction = 'output' }: EncoderOptions) {
    this.#checks = checks
    this.#generated = generated
    this.#rows = rows
    this.#direction = direction
  }

  compile(shape: Shape): Encode {
    const { nullable } = shape
    const constraint = this.#checks ? compileConstraint(shape) : undefined
    const encode = constraint ? constrained(this.#notNull(shape), constraint) : this.#notNull(shape)
    // The encoder of an object refuses null and undefined itself: there are many of them in a page.
    if (shape.kind === 'object' && !nullable && !constraint) return encode
    return (value) => {
      if (value === null || value === undefined) {
        if (shape.kind === 'standard' && !(nullable && value === null)) return encode(value)
        if (nullable || (shape.kind === 'any' && !shape.notNull)) return null
        refuseMissing(value, shape.kind)
      }
      return encode(value)
    }
  }

  #notNull(shape: Shape): Encode {
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
        return enumEncoder(shape.values)
      case 'date-time':
        return encodeDateTime
      case 'date':
        return encodeDay
      case 'bigint':
        return encodeBigint
      case 'decimal':
        return decimalEncoder(shape.digits?.fraction)
      case 'bytes':
        return encodeBytes
      case 'array':
        return arrayEncoder(this.compile(shape.items))
      case 'map':
        return mapEncoder(this.compile(shape.values))
      case 'object':
        return this.#object(shape)
      case 'union':
        return this.#union(shape)
      case 'standard':
        return standardEncoder(shape.schema, this.#checks)
      case 'any':
        return encodeAny
      case 'file':
        return (value) => refuseMismatch(value, 'JSON, which has no files') // such a response is refused at startup
    }
  }

  #union({ discriminator, isByClass, options }: UnionShape): Encode {
    const encoders = memo(() => new Map([...options()].map(([tag, option]) => [tag, this.compile(option)])))
    return (value) => {
      const tag: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, discriminator) : undefined
      const encode = encoders().get(tag)
      if (encode) return encode(value)
      if (isByClass)
        refuseMismatch(value, `an instance of ${[...options().values()].map(({ name }) => name).join(' or ')}`)
      const tags = [...encoders().keys()].join(', ')
      throw new ResponseMismatchError(`/${escapePointer(discriminator)}`, `is ${String(tag)}, declared one of ${tags}`)
    }
  }

  #object(shape: ObjectShape): Encode {
    const known = this.#objects.get(shape.origin)
    if (known) return known
    const properties: EncodedProperty[] = []
    const encodeProperty = this.#propertyEncoder(shape)
    // A property is named like an inherited one, such as 'toString': JSON must not be written from the inherited one if it is missing.
    let clashes = false
    let encodePlain: EncodePlain | undefined
    const encode: Encode = (value) => {
      if (typeof value !== 'object' || value === null || Array.isArray(value) || value instanceof Promise)
        return value === null || value === undefined
          ? refuseMissing(value, shape.kind)
          : refuseMismatch(value, shape.name)
      // An object has all its properties by name, which TypeScript knows only of records.
      const source = (shape.read ? shape.read(value) : value) as Readonly<Record<string, unknown>>
      const encoded = encodePlain?.(source)
      if (encoded !== undefined) return encoded
      return encodeEach(properties, source, clashes ? Object.create(null) : {}, encodeProperty)
    }
    this.#objects.set(shape.origin, encode) // set before its properties are compiled: they may refer to it
    const direction = this.#direction
    for (const [name, property] of propertiesOf(shape, direction)) {
      const { shape: inner, generated = false, associated = false } = property
      const encode = associated ? this.#later(inner) : this.compile(inner)
      const isColumn = generated || associated
      const optional = isOmissible(property, direction)
      properties.push({ name, shape: inner, optional, isColumn, inherited: isInherited(name), encode })
      clashes ||= isInherited(name)
    }
    if (this.#generated) encodePlain = compilePlainObject(properties, { alias: selectedAlias, encode: encodeProperty })
    return encode
  }

  /** Encodes the value of a property. Its errors name the record. */
  #propertyEncoder(shape: ObjectShape): EncodeProperty {
    return (property, value, source) => {
      try {
        if (value === undefined && this.#isMissing(property, source)) refuseMissing(undefined, property.shape.kind)
        return property.encode(value)
      } catch (error) {
        throw ResponseMismatchError.at(
          property.name,
          error,
          describeRecord(shape.name, shape.keyNames?.() ?? ['id'], source),
        )
      }
    }
  }

  /** Whether null would be wrong for a property that is undefined. A column that an object of the program lacks is null, as it would be in the database. */
  #isMissing({ name, shape, isColumn }: EncodedProperty, source: object): boolean {
    if (!shape.nullable || shape.kind === 'standard') return false // a schema of another library decides itself
    return readingOf(source)?.isUnread(source, name) ?? (this.#rows || !isColumn)
  }

  // Associations are compiled when one is first sent: most are never included in a query.
  #later(shape: Shape): Encode {
    const encode = memo(() => this.compile(shape))
    return (value) => encode()(value)
  }
}

function constrained(encode: Encode, constraint: (json: unknown) => string | undefined): Encode {
  return (value) => {
    const json = encode(value)
    const reason = constraint(json)
    if (reason !== undefined) throw new ResponseMismatchError('', reason)
    return json
  }
}

function refuseMissing(value: null | undefined, kind: Shape['kind']): never {
  throw new ResponseMismatchError('', `is ${value === null ? 'null' : 'missing'}, declared ${kind}`)
}

function encodeEach(
  properties: readonly EncodedProperty[],
  source: Readonly<Record<string, unknown>>,
  target: Record<string, unknown>,
  encode: EncodeProperty,
): object {
  for (const property of properties) {
    const { name, optional, inherited } = property
    const own = valueOf(source, name, inherited)
    const value = own === undefined ? selectedAlias(source, name) : own
    if (value === undefined && optional) continue
    target[name] = encode(property, value, source)
  }
  return target
}

function enumEncoder(values: readonly unknown[]): Encode {
  const allowed = new Set(values)
  return (value) => (allowed.has(value) ? value : refuseMismatch(value, `one of ${values.join(', ')}`))
}

function decimalEncoder(scale: number | undefined): Encode {
  return (value) => (scale === undefined ? withoutZeroSign(encodeDecimal(value)) : toScale(encodeDecimal(value), scale))
}

function encodeBytes(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : refuseMismatch(value, 'bytes')
}

function selectedAlias(source: object, name: string): unknown {
  return readingOf(source)?.selected(source, name)
}

interface EncodedProperty extends PlainProperty {
  readonly inherited: boolean
  /** Whether it is a column that may be null, or an association. */
  readonly isColumn: boolean
  readonly encode: Encode
}

type EncodeProperty = (property: EncodedProperty, value: unknown, source: object) => unknown

// Plain objects only: the values of a Map, or of an instance, are not its properties.
function mapEncoder(encode: Encode): Encode {
  return (value) => {
    if (!isPlainRecord(value)) return refuseMismatch(value, 'a plain object')
    const entries = Object.entries(value).flatMap(([name, part]): (readonly [string, unknown])[] => {
      if (part === undefined) return []
      try {
        return [[name, encode(part)]]
      } catch (error) {
        throw ResponseMismatchError.at(name, error)
      }
    })
    return Object.fromEntries(entries) // own properties, also of names such as '__proto__'
  }
}

/** The most items of a list. More would hardly fit into a string; a sparse array has any number of them in a few bytes, and V8 ends the process. */
const MAX_ITEMS = 2 ** 25

function arrayEncoder(encode: Encode): Encode {
  return (value) => {
    if (!Array.isArray(value)) return refuseMismatch(value, 'array')
    if (value.length > MAX_ITEMS)
      throw new ResponseMismatchError('', `has ${value.length} items, and may have ${MAX_ITEMS}: send them in pages`)
    const encoded: unknown[] = []
    // Not map(), which would skip the holes of a sparse array.
    for (let index = 0; index < value.length; index++) {
      try {
        encoded.push(encode(value[index]))
      } catch (error) {
        throw ResponseMismatchError.at(index, error)
      }
    }
    return encoded
  }
}
