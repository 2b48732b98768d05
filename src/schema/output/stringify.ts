import fastJsonStringify, { type AnySchema } from 'fast-json-stringify'
import { compileStrictEncoder } from './encode.js'
import { isInherited } from '../shape/inherited-names.js'
import { type JsonSchema, type ObjectShape, propertiesOf, type Shape } from '../shape/shape.js'

/** Writes a value as the JSON text of its declared shape. */
export type Stringify = (value: unknown) => string

/** Compiles the way from what a handler returns to JSON text. @throws ResponseMismatchError (the function made) for a value that does not fit. */
export function compileStringify(shape: Shape): Stringify {
  const encode = compileStrictEncoder(shape)
  const stringify = fastJsonStringify(textOf(shape, 0) as AnySchema)
  return (value) => stringify(encode(value))
}

/** Objects within each other beyond which JSON.stringify() writes: classes may refer to each other without end. */
const MOST_LEVELS = 4

const ANY: JsonSchema = {}

// What the encoder has made needs no checks: only where its texts, numbers and properties are.
function textOf(shape: Shape, level: number): JsonSchema {
  const schema = plainTextOf(shape, level)
  return shape.nullable && schema !== ANY ? { ...schema, nullable: true } : schema
}

function plainTextOf(shape: Shape, level: number): JsonSchema {
  switch (shape.kind) {
    case 'string':
    case 'date-time':
    case 'date':
    case 'bigint':
    case 'decimal':
    case 'bytes':
      return { type: 'string' }
    case 'integer':
    case 'number':
      return { type: 'number' }
    case 'boolean':
      return { type: 'boolean' }
    case 'array':
      return { type: 'array', items: textOf(shape.items, level) }
    case 'object':
      return level < MOST_LEVELS ? objectOf(shape, level + 1) : ANY
    case 'enum':
    case 'union':
    case 'standard':
    case 'any':
      return ANY
  }
}

function objectOf(shape: ObjectShape, level: number): JsonSchema {
  const properties = propertiesOf(shape, 'output')
  // The library loses properties that are named like those of every object, such as 'toString'.
  if (properties.some(([name]) => isInherited(name))) return ANY
  const texts = properties.map(([name, { shape: inner, associated }]) => [
    name,
    associated ? ANY : textOf(inner, level),
  ])
  return { type: 'object', properties: Object.fromEntries(texts) }
}
