import { isDecimalText, isIntegerText } from '../shape/text-formats.js'
import type { EnumShape, JsonSchema, ObjectShape, Property, Shape } from '../shape/shape.js'
import { jsonSchemaOf, type StandardSchema } from '../shape/standard-schema.js'

/**
 * What a text from the path, the query or a header stands for, as JSON.
 * A text that does not fit is left as it is: validation then says what is wrong with it.
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
      return enumTexts(shape).get(text) ?? text
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

const known = new WeakMap<EnumShape, ReadonlyMap<string, string | number>>()

/** The values of an enum by their texts: a query can repeat one of thousands of values thousands of times. */
function enumTexts(shape: EnumShape): ReadonlyMap<string, string | number> {
  const texts = known.get(shape) ?? byText(shape.values)
  known.set(shape, texts)
  return texts
}

// Of a text and a number that are written alike the text counts.
function byText(values: readonly (string | number)[]): ReadonlyMap<string, string | number> {
  const [texts, numbers] = [values.filter(isText), values.filter((value) => !isText(value))]
  return new Map([...numbers, ...texts].map((value) => [String(value), value]))
}

function isText(value: string | number): boolean {
  return typeof value === 'string'
}

// '-0' is written for 0 and nothing else.
function toNumber(text: string): number {
  return Number(text) + 0
}

/** What is read from texts for a schema of another library, before it is asked: what its JSON Schema calls a number is one, no other text. */
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

/** The properties that another library's schema of an object has; undefined when its JSON Schema tells of none. */
export function standardSchemaProperties(schema: StandardSchema): ReadonlyMap<string, Property> | undefined {
  const { type, properties, required = [] } = jsonSchemaOf(schema, 'input')
  if (type !== 'object' || typeof properties !== 'object' || properties === null) return undefined
  return new Map(
    Object.entries(properties as Readonly<Record<string, JsonSchema>>).map(([name, json]): [string, Property] => [
      name,
      { shape: ofJsonSchema(json), optional: !(required as readonly string[]).includes(name) },
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
      return { kind: 'array', items: ofJsonSchema((openApiSchema['items'] ?? {}) as JsonSchema), openApiSchema }
    default:
      return { kind: 'any', openApiSchema }
  }
}
