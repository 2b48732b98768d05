import { compileEncoder } from '../output/encode.js'
import { ConvertedPart } from './standard-schema-parts.js'
import { memo } from '../../core/memo.js'
import { isInherited, valueOf } from '../shape/inherited-names.js'
import { type ObjectShape, propertiesOf, type Property, type Shape } from '../shape/shape.js'

/** Turns validated JSON into what the type says: `Date`, `bigint`, class instances. */
export type Decode = (json: unknown) => unknown

const asItIs: Decode = (json) => json

// A handler may change what it was given, and be run again.
const made: Decode = (json) => (json instanceof ConvertedPart ? copyOf(json.value) : json)

// structuredClone() takes ten times as long for lists and objects of JSON.
function copyOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(copyOf)
  if (Object.getPrototypeOf(value) !== Object.prototype) return clone(value)
  const target: Record<string, unknown> = {}
  for (const key of Object.keys(value)) put(target, key, copyOf((value as Readonly<Record<string, unknown>>)[key]))
  return target
}

// What a library made may not be copyable.
function clone(value: object): unknown {
  try {
    return structuredClone(value)
  } catch {
    return value
  }
}

function put(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__')
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
  else target[key] = value
}

export interface DecoderOptions {
  /** Whether JSON of any kind is copied, so that what is decoded can be decoded again. Default true. */
  readonly copies?: boolean
}

/** Compiles the decoder of a shape. Its input must have passed validation. */
export function compileDecoder(shape: Shape, { copies = true }: DecoderOptions = {}): Decode {
  return new DecoderCompiler(copies).compile(shape)
}

/** Makes the value of an input that the client left out: a new one each time, as a handler may change a list or a date. */
export function compileDefault(property: Property): () => unknown {
  return defaultMaker(property, compileDecoder(property.shape))
}

function defaultMaker({ shape, default: byDefault }: Property, decode: Decode): () => unknown {
  if (typeof byDefault !== 'object' || byDefault === null) return () => byDefault
  const json = compileEncoder(shape)(byDefault)
  return () => decode(structuredClone(json))
}

class DecoderCompiler {
  readonly #objects = new Map<unknown, Decode>()
  readonly #copies: boolean

  constructor(copies: boolean) {
    this.#copies = copies
  }

  compile(shape: Shape): Decode {
    const decode = this.#plain(shape)
    return decode === asItIs ? asItIs : (json) => (json === null || json === undefined ? json : decode(json))
  }

  #plain(shape: Shape): Decode {
    switch (shape.kind) {
      case 'date-time':
        return (json) => new Date(json as string)
      case 'bigint':
        return (json) => BigInt(json as string)
      case 'bytes':
        return (json) => Buffer.from(json as string, 'base64')
      case 'array': {
        const item = this.compile(shape.items)
        if (item === asItIs && !this.#copies) return asItIs
        return (json) => (json as unknown[]).map(item)
      }
      case 'object':
        return this.#object(shape)
      case 'string':
      case 'integer':
      case 'number':
      case 'boolean':
      case 'enum':
      case 'date':
      case 'decimal':
        return asItIs
      case 'union': {
        const { discriminator, options } = shape
        const decoders = memo(() => new Map([...options()].map(([tag, option]) => [tag, this.compile(option)])))
        // Validation has found the tag among these.
        return (json) => (decoders().get((json as Record<string, unknown>)[discriminator]) as Decode)(json)
      }
      case 'standard':
        return made
      case 'any':
        return this.#copies ? copyOf : asItIs
    }
  }

  #object(shape: ObjectShape): Decode {
    const known = this.#objects.get(shape.origin)
    if (known) return known
    const properties: DecodedProperty[] = []
    const { instance } = shape
    const decode: Decode = (json) => {
      const target = (instance ? new instance() : {}) as Record<string, unknown>
      for (const { name, inherited, decode: decodeProperty, makeDefault } of properties) {
        const given = valueOf(json as Record<string, unknown>, name, inherited)
        const value = given === undefined ? makeDefault() : decodeProperty(given)
        if (value !== undefined) target[name] = value
        else forget(target, name)
      }
      return target
    }
    this.#objects.set(shape.origin, decode) // known before its properties: they may refer to it
    for (const [name, property] of propertiesOf(shape, 'input')) {
      const decodeProperty = this.compile(property.shape)
      const makeDefault = defaultMaker(property, decodeProperty)
      properties.push({ name, inherited: isInherited(name), decode: decodeProperty, makeDefault })
    }
    return decode
  }
}

interface DecodedProperty {
  readonly name: string
  readonly inherited: boolean
  readonly decode: Decode
  readonly makeDefault: () => unknown
}

// With "useDefineForClassFields" a class sets its fields to undefined; a patch must tell what was sent from what was not.
function forget(target: Record<string, unknown>, name: string): void {
  if (Object.hasOwn(target, name) && target[name] === undefined) delete target[name]
}
