import type { AnySchema } from 'fast-json-stringify'
import { loadLater } from '../../core/load-later.js'
import { memo } from '../../core/memo.js'
import { compileStrictEncoder } from './encode.js'
import { isInherited } from '../shape/inherited-names.js'
import { type JsonSchema, type ObjectShape, propertiesOf, type Shape } from '../shape/shape.js'

/** Writes a returned value as JSON. */
export type Stringify = (value: unknown) => string

const fastJsonStringify = loadLater<typeof import('fast-json-stringify')>('fast-json-stringify')

/**
 * The writer of a shape, compiled at its first value: writing the OpenAPI document has found what is wrong with the shape. The writer throws a
 * ResponseMismatchError for a value that does not match the shape.
 */
export function compileStringify(shape: Shape): Stringify {
  const compiled = memo(() => {
    const encode = compileStrictEncoder(shape)
    const stringify = fastJsonStringify()(schemaOf(shape, 0) as AnySchema) // its types do not allow {} within a schema
    return (value: unknown) => stringify(encode(value))
  })
  return (value) => compiled()(value)
}

/** The depth of objects from which JSON.stringify() is used: classes may refer to each other in a cycle. */
const MAX_DEPTH = 4

const ANY: JsonSchema = {}

// The encoder has checked the value: fast-json-stringify only needs to know where strings, numbers and properties are.
function schemaOf(shape: Shape, depth: number): JsonSchema {
  const schema = notNullSchemaOf(shape, depth)
  return shape.nullable && schema !== ANY ? { ...schema, nullable: true } : schema
}

function notNullSchemaOf(shape: Shape, depth: number): JsonSchema {
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
      return { type: 'array', items: schemaOf(shape.items, depth) }
    case 'object':
      return depth < MAX_DEPTH ? objectSchemaOf(shape, depth + 1) : ANY
    case 'enum':
    case 'map':
    case 'union':
    case 'standard':
    case 'any':
    case 'file':
      return ANY
  }
}

function objectSchemaOf(shape: ObjectShape, depth: number): JsonSchema {
  const properties = propertiesOf(shape, 'output')
  // fast-json-stringify omits properties that are named like inherited ones, such as 'toString'.
  if (properties.some(([name]) => isInherited(name))) return ANY
  const schemas = properties.map(([name, { shape: inner, associated }]) => [
    name,
    associated ? ANY : schemaOf(inner, depth),
  ])
  return { type: 'object', properties: Object.fromEntries(schemas) }
}
