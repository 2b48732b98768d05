import { memoFor } from '../../core/memo.js'
import { isChoice, readableOption } from '../shape/coercion.js'
import { isIntegerText, isNumberText } from '../shape/text-formats.js'
import { type EnumShape, type JsonSchema, type ObjectShape, type Shape } from '../shape/shape.js'
import { jsonSchemaOf } from '../shape/standard-schema.js'
import { resolveReference, toJsonSchema } from '../shape/subschemas.js'

/**
 * Parses a string from the path, the query or a header as JSON of the shape's type: '5' -> 5.
 * A string that cannot be parsed is returned unchanged, and validation reports it.
 */
export function parseString(shape: Shape, text: string): unknown {
  switch (shape.kind) {
    case 'integer':
      return isIntegerText(text) ? toNumber(text) : text
    case 'number':
      return isNumberText(text) ? toNumber(text) : text
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : text
    case 'enum':
      return enumValues(shape).get(text) ?? text
    case 'any':
      return shape.readAs ? parseString(shape.readAs, text) : text
    case 'union':
    case 'standard':
    case 'string':
    case 'date-time':
    case 'date':
    case 'bigint':
    case 'decimal':
    case 'bytes':
    case 'array':
    case 'map':
    case 'object':
    case 'file':
      return text
  }
}

/** The values of an enum by their strings. A map, because a query can repeat one of thousands of values thousands of times. */
const enumValues = memoFor(({ values }: EnumShape) => byString(values))

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
  return shape.kind === 'standard' ? shapeOfJsonSchema(jsonSchemaOf(shape.schema, 'input')) : shape
}

const parseableObject = memoFor((shape: ObjectShape): ObjectShape => {
  const entries = [...shape.properties()]
  const properties = entries.map(
    ([name, property]) => [name, { ...property, shape: parseableShape(property.shape) }] as const,
  )
  if (properties.every(([, { shape: inner }], index) => inner === entries[index]?.[1].shape)) return shape
  return { ...shape, origin: properties, anonymous: true, properties: () => new Map(properties) }
})

/** The shape by which strings are parsed as a JSON Schema declares them; it accepts every value. */
export function shapeOfJsonSchema(openApiSchema: JsonSchema, root = openApiSchema): Shape {
  const choice = choiceOf(openApiSchema)
  if (choice) return { kind: 'any', readAs: shapeOfJsonSchema(choice, root), openApiSchema }
  const read = readable(openApiSchema, root)
  switch (read['type']) {
    case 'integer':
    case 'number':
    case 'boolean':
      return { kind: read['type'], openApiSchema }
    case 'array':
      return { kind: 'array', items: shapeOfJsonSchema(toJsonSchema(read['items']), root), openApiSchema }
    default:
      return { kind: 'any', openApiSchema }
  }
}

function choiceOf({ anyOf, oneOf }: JsonSchema): JsonSchema | undefined {
  const options = anyOf ?? oneOf
  return Array.isArray(options) && isChoice(options) ? readableOption(options) : undefined
}

/** The schema that has the type of a value: the definition of a reference, the other option of a nullable schema. */
function readable(schema: JsonSchema, root: JsonSchema, seen: readonly JsonSchema[] = []): JsonSchema {
  const { anyOf, oneOf, allOf } = schema
  const options = anyOf ?? oneOf
  const inner =
    resolveReference(root, schema) ??
    (Array.isArray(options) && !isChoice(options)
      ? readableOption(options)
      : Array.isArray(allOf)
        ? toJsonSchema(allOf[0])
        : undefined)
  return inner && !('type' in schema) && !seen.includes(inner) ? readable(inner, root, [...seen, inner]) : schema
}
