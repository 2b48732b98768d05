import { memoFor } from '../../core/memo.js'
import { type JsonSchema, propertiesOf, type Property, type Shape } from '../shape/shape.js'
import { jsonSchemaOf, type StandardSchema } from '../shape/standard-schema.js'
import { toJsonSchema } from '../shape/subschemas.js'
import { shapeOfJsonSchema } from './parse-string.js'

type Properties = ReadonlyMap<string, Property>

/** The properties that a body of this shape has, also if it is declared by another library or as one of several classes. */
export function bodyPropertiesOf(shape: Shape): readonly (readonly [string, Property])[] {
  switch (shape.kind) {
    case 'object':
      return propertiesOf(shape, 'input')
    case 'union':
      return [...shape.options().values()].flatMap((option) => propertiesOf(option, 'input'))
    case 'standard':
      return [...(standardSchemaProperties(shape.schema) ?? [])]
    case 'any':
      return [...((shape.openApiSchema && jsonSchemaProperties(shape.openApiSchema)) ?? [])]
    default:
      return []
  }
}

/**
 * The properties of a Standard Schema of an object; undefined if its JSON Schema is not that of an object. A library writes it anew for each call, which
 * takes milliseconds, and errors of the database are located in a body by them.
 */
export const standardSchemaProperties = memoFor((schema: StandardSchema) =>
  jsonSchemaProperties(jsonSchemaOf(schema, 'input')),
)

function jsonSchemaProperties(root: JsonSchema): Properties | undefined {
  const { type, properties, required = [] } = root
  if (type !== 'object' || typeof properties !== 'object' || properties === null) return undefined
  return new Map(
    Object.entries(properties).map(([name, json]: [string, unknown]): [string, Property] => [
      name,
      {
        shape: withDefinitions(shapeOfJsonSchema(toJsonSchema(json), root), root),
        optional: !(Array.isArray(required) && required.includes(name)),
      },
    ]),
  )
}

/** The shape with a JSON Schema that contains what it refers to. */
function withDefinitions(shape: Shape, { $defs }: JsonSchema): Shape {
  if ($defs === undefined || !JSON.stringify(shape.openApiSchema).includes('"$ref"')) return shape
  return { ...shape, openApiSchema: { ...shape.openApiSchema, $defs } }
}
