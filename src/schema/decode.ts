import { compileEncoder } from './encode.js'
import { Made } from './foreign.js'
import { lazily } from './lazily.js'
import { isInherited, valueOf } from './property.js'
import { type ObjectShape, propertiesOf, type Property, type Shape } from './shape.js'

/** Turns validated JSON into what the type says: `Date`, `bigint`, class instances. */
export type Decode = (json: unknown) => unknown

const asItIs: Decode = (json) => json

// A handler may change what it was given, and be run again with what was sent.
const copy: Decode = (json) => (typeof json === 'object' && json !== null ? structuredClone(json) : json)

const made: Decode = (json) => (json instanceof Made ? copyOf(json.value) : json)

// What a library made may not be copyable.
function copyOf(value: unknown): unknown {
  try {
    return structuredClone(value)
  } catch {
    return value
  }
}

/** Compiles the decoder of a shape. Its input must have passed validation. */
export function compileDecoder(shape: Shape): Decode {
  return new DecoderCompiler().compile(shape)
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
        const decoders = lazily(() => new Map([...options()].map(([tag, option]) => [tag, this.compile(option)])))
        // Validation has found the tag among these.
        return (json) => (decoders().get((json as Record<string, unknown>)[discriminator]) as Decode)(json)
      }
      case 'standard':
        return made
      case 'any':
        return copy
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
