import fastJsonStringify from 'fast-json-stringify'
import { compileStrictEncoder } from './encode.js'
import { type JsonSchema, SchemaWriter } from './json-schema.js'
import { isInherited } from './property.js'
import type { Shape } from './shape.js'

/** Writes a value as the JSON text of its declared shape. */
export type Stringify = (value: unknown) => string

/** Compiles the way from what a handler returns to JSON text. @throws MisfitError (the function made) for a value that does not fit. */
export function compileStringify(shape: Shape): Stringify {
  const encode = compileStrictEncoder(shape)
  const writer = new SchemaWriter({ prefix: '#/definitions/', opaque: true })
  const schema = writer.write(shape, 'output')
  if ([...writer.components.values()].some(hasInheritedName)) return (value) => JSON.stringify(encode(value))
  const definitions = Object.fromEntries([...writer.components].map(([name, component]) => [name, bare(component)]))
  // The library's type names every keyword; ours is a record, as JSON Schema is open.
  const stringify = fastJsonStringify({ ...bare(schema), definitions } as unknown as fastJsonStringify.AnySchema)
  return (value) => stringify(encode(value))
}

// The library loses properties that are named like those of every object, such as 'toString'.
function hasInheritedName({ properties = {} }: JsonSchema): boolean {
  return Object.keys(properties as object).some(isInherited)
}

// The encoder has already made strings of dates and days, filled nothing in and missed nothing: formats, defaults and what is required
// would be applied a second time, also to what is never sent.
function bare(schema: unknown): JsonSchema {
  if (Array.isArray(schema)) return schema.map(bare) as unknown as JsonSchema
  if (typeof schema !== 'object' || schema === null) return schema as unknown as JsonSchema
  if ('oneOf' in schema) return {} // the encoder has chosen, and would be asked for nothing else
  const entries = Object.entries(schema).filter(([key]) => !DONE.has(key))
  return Object.fromEntries(
    entries.map(([key, value]) => [key, key === 'properties' ? bareProperties(value as object) : bare(value)]),
  )
}

const DONE: ReadonlySet<string> = new Set(['format', 'default', 'examples', 'required', 'checks'])

// Properties may be called 'format' or 'default' themselves.
function bareProperties(properties: object): JsonSchema {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, bare(property)]))
}
