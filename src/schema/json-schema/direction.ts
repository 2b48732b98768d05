import { isOmissible, type Property, type Shape, type Direction } from '../shape/shape.js'
import { type StandardSchema, writtenJsonSchema } from '../shape/standard-schema.js'

/** Whether a shape, or one that it contains, has different JSON Schemas for input and for output. */
export function differsByDirection(shape: Shape, seen: Set<unknown> = new Set()): boolean {
  switch (shape.kind) {
    case 'array':
      return differsByDirection(shape.items, seen)
    case 'map':
      return differsByDirection(shape.values, seen)
    case 'union':
      return [...shape.options().values()].some((option) => differsByDirection(option, seen))
    case 'standard':
      return jsonOf(shape.schema, 'input') !== jsonOf(shape.schema, 'output')
    case 'object':
      if (seen.has(shape.origin)) return false
      seen.add(shape.origin)
      for (const property of shape.properties().values())
        if (differs(property) || (mayDiffer(property.shape) && differsByDirection(property.shape, seen))) return true
      return false
    default:
      return false
  }
}

function mayDiffer({ kind }: Shape): boolean {
  return kind === 'object' || kind === 'array' || kind === 'map' || kind === 'union' || kind === 'standard'
}

function differs(property: Property): boolean {
  return (
    property.writeOnly === true ||
    property.readOnly === true ||
    isOmissible(property, 'input') !== isOmissible(property, 'output')
  )
}

function jsonOf(schema: StandardSchema, direction: Direction): string | undefined {
  return JSON.stringify(writtenJsonSchema(schema, direction))
}
