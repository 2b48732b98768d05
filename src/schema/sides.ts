import { isOmissible, type Property, type Shape, type Side } from './shape.js'
import { jsonSchemaOf, type StandardSchema } from './standard.js'

/** Whether a shape, or one that it refers to, says different things of what comes in and of what goes out. */
export function hasSides(shape: Shape, seen: Set<unknown> = new Set()): boolean {
  switch (shape.kind) {
    case 'array':
      return hasSides(shape.items, seen)
    case 'union':
      return [...shape.options().values()].some((option) => hasSides(option, seen))
    case 'standard':
      return textOf(shape.schema, 'input') !== textOf(shape.schema, 'output')
    case 'object':
      if (seen.has(shape.origin)) return false
      seen.add(shape.origin)
      return [...shape.properties().values()].some((property) => isOneSided(property) || hasSides(property.shape, seen))
    default:
      return false
  }
}

function isOneSided(property: Property): boolean {
  const { writeOnly = false, readOnly = false } = property
  return writeOnly || readOnly || isOmissible(property, 'input') !== isOmissible(property, 'output')
}

function textOf(schema: StandardSchema, side: Side): string {
  return JSON.stringify(jsonSchemaOf(schema, side))
}
