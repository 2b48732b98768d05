import type { ObjectShape, Property, Shape } from './shape.js'

/** Turns validated JSON into what the type says: `Date`, `bigint`, class instances. */
export type Decode = (json: unknown) => unknown

const asItIs: Decode = (json) => json

/** Compiles the decoder of a shape. Its input must have passed validation. */
export function compileDecoder(shape: Shape): Decode {
  return new DecoderCompiler().compile(shape)
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
        return item === asItIs ? asItIs : (json) => (json as unknown[]).map(item)
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
      case 'any':
        return asItIs
    }
  }

  #object(shape: ObjectShape): Decode {
    const known = this.#objects.get(shape.origin)
    if (known) return known
    const properties: [string, Property, Decode][] = []
    const { instance } = shape
    const decode: Decode = (json) => {
      const target = (instance ? new instance() : {}) as Record<string, unknown>
      for (const [name, property, decodeProperty] of properties) {
        const value = (json as Record<string, unknown>)[name]
        if (value !== undefined) target[name] = decodeProperty(value)
        else if (property.default !== undefined) target[name] = property.default
      }
      return target
    }
    this.#objects.set(shape.origin, decode) // known before its properties: they may refer to it
    for (const [name, property] of shape.properties()) properties.push([name, property, this.compile(property.shape)])
    return decode
  }
}
