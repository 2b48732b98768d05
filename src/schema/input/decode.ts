import { compileEncoder } from '../output/encode.js'
import { ConvertedPart } from './standard-schema-parts.js'
import { memo } from '../../core/memo.js'
import { isInherited, valueOf } from '../shape/inherited-names.js'
import { type Direction, type ObjectShape, propertiesOf, type Property, type Shape } from '../shape/shape.js'

/** Converts validated JSON to values of the declared types: `Date`, `bigint`, class instances. */
export type Decode = (json: unknown) => unknown

const unchanged: Decode = (json) => json

// Copied: a handler may change its input, and be run again with it.
const convertedPart: Decode = (json) => (json instanceof ConvertedPart ? copyOf(json.value) : json)

// structuredClone() takes ten times as long for arrays and plain objects.
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  if (!isPlainObject(value)) return clone(value)
  const target: JsonObject = {}
  for (const key of Object.keys(value)) put(target, key, copyOf(value[key]))
  return target
}

function isPlainObject(value: object): value is JsonObject {
  return Object.getPrototypeOf(value) === Object.prototype
}

// A library may return objects that cannot be cloned, such as functions or proxies.
function clone(value: object): unknown {
  try {
    return structuredClone(value)
  } catch {
    return value
  }
}

function put(target: JsonObject, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else target[key] = value
}

export interface DecoderOptions {
  /** Whether arrays and undeclared JSON are copied, so that the same JSON can be decoded again. Default true. */
  readonly copies?: boolean
  /** Which properties the JSON has. Default: those of inputs. */
  readonly direction?: Direction
}

/** Compiles the decoder of a shape. Its input must have passed validation. */
export function compileDecoder(shape: Shape, { copies = true, direction = 'input' }: DecoderOptions = {}): Decode {
  return new DecoderCompiler(copies, direction).compile(shape)
}

/** Makes the default of an input that the client omits: a new one for each request, because a handler may change a list or a date. */
export function compileDefault(property: Property): () => unknown {
  return defaultMaker(property, compileDecoder(property.shape))
}

function defaultMaker({ shape, default: byDefault }: Property, decode: Decode): () => unknown {
  if (typeof byDefault !== 'object' || byDefault === null) return () => byDefault
  const json = compileEncoder(shape, { checks: false })(byDefault)
  return () => decode(structuredClone(json))
}

type JsonObject = Record<string, unknown>

// Object.fromEntries() makes own properties also of names such as '__proto__'.
function mapValues(json: JsonObject, decode: Decode): unknown {
  return Object.fromEntries(Object.entries(json).map(([name, value]) => [name, decode(value)]))
}

/** A decoder of JSON of one type. */
function validated<T>(decode: (json: T) => unknown): Decode {
  return decode as Decode // validation has checked that the JSON is a T
}

class DecoderCompiler {
  readonly #objects = new Map<unknown, Decode>()
  readonly #copies: boolean
  readonly #direction: Direction

  constructor(copies: boolean, direction: Direction) {
    this.#copies = copies
    this.#direction = direction
  }

  compile(shape: Shape): Decode {
    const decode = this.#notNull(shape)
    return decode === unchanged ? unchanged : (json) => (json === null || json === undefined ? json : decode(json))
  }

  #notNull(shape: Shape): Decode {
    switch (shape.kind) {
      case 'date-time':
        return validated((text: string) => new Date(text))
      case 'bigint':
        return validated((text: string) => BigInt(text))
      case 'bytes':
        return validated((text: string) => Buffer.from(text, 'base64'))
      case 'array':
        return this.#parts(shape.items, (item) => (list: unknown[]) => list.map(item))
      case 'map':
        return this.#parts(shape.values, (part) => (json: JsonObject) => mapValues(json, part))
      case 'object':
        return this.#object(shape)
      case 'string':
        return shape.format === 'uuid' ? validated((text: string) => text.toLowerCase()) : unchanged
      case 'integer':
      case 'number':
      case 'boolean':
      case 'enum':
      case 'date':
      case 'decimal':
      case 'file':
        return unchanged
      case 'union': {
        const { discriminator, options } = shape
        const decoders = memo(() => new Map([...options()].map(([tag, option]) => [tag, this.compile(option)])))
        return validated((json: JsonObject) => (decoders().get(json[discriminator]) ?? unchanged)(json))
      }
      case 'standard':
        return convertedPart
      case 'any':
        return this.#copies ? copyOf : unchanged
    }
  }

  /** A list or a map is left as it is if its parts are, and nothing is copied. */
  #parts<T>(part: Shape, decodeAll: (decode: Decode) => (json: T) => unknown): Decode {
    const decode = this.compile(part)
    return decode === unchanged && !this.#copies ? unchanged : validated(decodeAll(decode))
  }

  #object(shape: ObjectShape): Decode {
    const known = this.#objects.get(shape.origin)
    if (known) return known
    const properties: DecodedProperty[] = []
    const { instance } = shape
    const decode = validated((json: JsonObject) => {
      const target = instance ? new instance() : {}
      for (const { name, inherited, decode: decodeProperty, makeDefault, initial } of properties) {
        const given = inherited ? valueOf(json, name, inherited) : json[name]
        const value =
          given !== undefined
            ? decodeProperty === unchanged
              ? given
              : decodeProperty(given)
            : initial
              ? // The class itself has set it; one that dto() derives has not.
                decodeInitial(valueOf(target, name, inherited) ?? initial(), decodeProperty)
              : makeDefault()
        if (value === undefined) removeUndefined(target, name)
        else target[name] = value
      }
      return target
    })
    this.#objects.set(shape.origin, decode) // set before its properties are compiled: they may refer to it
    for (const [name, property] of propertiesOf(shape, this.#direction)) {
      const decodeProperty = this.compile(property.shape)
      const makeDefault = defaultMaker(property, decodeProperty)
      const { initial } = property
      properties.push({ name, inherited: isInherited(name), decode: decodeProperty, makeDefault, initial })
    }
    return decode
  }
}

// A string may stand for a Date or a bigint, as in a default. What the class has created is not changed.
function decodeInitial(value: unknown, decode: Decode): unknown {
  return typeof value === 'string' ? decode(value) : value
}

interface DecodedProperty {
  readonly name: string
  readonly inherited: boolean
  readonly decode: Decode
  readonly makeDefault: () => unknown
  readonly initial: Property['initial']
}

// With "useDefineForClassFields" the constructor sets all fields to undefined. A patch must not have those that the client omitted.
function removeUndefined(target: JsonObject, name: string): void {
  if (Object.hasOwn(target, name) && target[name] === undefined) delete target[name]
}
