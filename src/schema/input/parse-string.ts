import { isDecimalText, isIntegerText } from '../shape/text-formats.js'
import type { EnumShape, JsonSchema, ObjectShape, Property, Shape } from '../shape/shape.js'
import { jsonSchemaOf, type StandardSchema, toJsonSchema } from '../shape/standard-schema.js'

/**
 * Parses a string from the path, the query or a header as JSON of the shape's type: '5' -> 5.
 * A string that cannot be parsed is returned unchanged, and validation reports it.
 */
export function parseString(shape: Shape, text: string): unknown {
  switch (shape.kind) {
    case 'integer':
      return isIntegerText(text) ? toNumber(text) : text
    case 'number':
      return isDecimalText(text) ? toNumber(text) : text
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'enum':
      return enumValues(shape).get(text) ?? text
    case 'any':
    case 'union':
    case 'standard':
    case 'string':
    case 'date-time':
    case 'date':
    case 'bigint':
    case 'decimal':
    case 'bytes':
    case 'array':
    case 'object':
      return text
  }
}

const enums = new WeakMap<EnumShape, ReadonlyMap<string, string | number>>()

/** The values of an enum by how they are written. A map, as a query can repeat one of thousands of values thousands of times. */
function enumValues(shape: EnumShape): ReadonlyMap<string, string | number> {
  const values = enums.get(shape) ?? byString(shape.values)
  enums.set(shape, values)
  return values
}

// If a string and a number are written alike, the string wins: it is set last.
function byString(values: readonly (string | number)[]): ReadonlyMap<string, string | number> {
  const strings = values.filter((value) => typeof value === 'string')
  const numbers = values.filter((value) => typeof value === 'number')
  return new Map([...numbers, ...strings].map((value) => [String(value), value]))
}

// Adding 0 turns -0, which Number('-0') returns, into 0.
function toNumber(text: string): number {
  return Number(text) + 0
}

/**
 * The shape by which strings are parsed before a Standard Schema validates them: strings are parsed as the numbers and booleans that its
 * JSON Schema declares. Other shapes are returned unchanged.
 */
export function parseableShape(shape: Shape): Shape {
  if (shape.kind === 'object') return parseableObject(shape)
  return shape.kind === 'standard' ? ofJsonSchema(jsonSchemaOf(shape.schema, 'input')) : shape
}

function parseableObject(shape: ObjectShape): ObjectShape {
  const entries = [...shape.properties()]
  const properties = entries.map(
    ([name, property]) => [name, { ...property, shape: parseableShape(property.shape) }] as const,
  )
  if (properties.every(([, { shape: inner }], index) => inner === entries[index]?.[1].shape)) return shape
  return { ...shape, origin: properties, anonymous: true, properties: () => new Map(properties) }
}

/** The properties of a Standard Schema of an object; undefined if its JSON Schema is not that of an object. */
export function standardSchemaProperties(schema: StandardSchema): ReadonlyMap<string, Property> | undefined {
  const { type, properties, required = [] } = jsonSchemaOf(schema, 'input')
  if (type !== 'object' || typeof properties !== 'object' || properties === null) return undefined
  return new Map(
    Object.entries(properties).map(([name, json]: [string, unknown]): [string, Property] => [
      name,
      { shape: ofJsonSchema(toJsonSchema(json)), optional: !(Array.isArray(required) && required.includes(name)) },
    ]),
  )
}

function ofJsonSchema(openApiSchema: JsonSchema): Shape {
  switch (openApiSchema['type']) {
    case 'integer':
    case 'number':
    case 'boolean':
      return { kind: openApiSchema['type'], openApiSchema }
    case 'array':
      return { kind: 'array', items: ofJsonSchema(toJsonSchema(openApiSchema['items'])), openApiSchema }
    default:
      return { kind: 'any', openApiSchema }
  }
}
