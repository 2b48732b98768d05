import { BootError } from '../../core/boot-error.js'
import type { Shape } from '../shape/shape.js'

type StringLocation = 'path' | 'query' | 'header'

/**
 * Refuses types that cannot be written as strings in the path, the query or a header.
 *
 * @param where The input, for the message.
 * @throws BootError with the type to write instead.
 */
export function refuseComplexParameters(shape: Shape, location: StringLocation, where: string): void {
  if (shape.kind !== 'object' || location === 'path') return refuse(shape, location, where, [])
  // In the query and the headers each property is a separate parameter.
  for (const [name, property] of shape.properties())
    refuse(property.shape, location, `${where}, ${shape.name}.${name}`, [shape.origin])
}

function refuse(shape: Shape, location: StringLocation, where: string, enclosing: readonly unknown[]): void {
  const what = complexTypeOf(shape, location, enclosing)
  if (what !== undefined)
    throw new BootError(
      `${where}: ${what} cannot be sent in the ${location}. Receive it in the body, or as strings: { type: [String] }.`,
    )
  if (shape.kind !== 'object') return
  for (const [name, property] of shape.properties())
    refuse(property.shape, location, `${where}, ${shape.name}.${name}`, [...enclosing, shape.origin])
}

function complexTypeOf(shape: Shape, location: StringLocation, enclosing: readonly unknown[]): string | undefined {
  switch (shape.kind) {
    case 'union':
      return 'one of several classes'
    case 'object':
      if (enclosing.includes(shape.origin)) return `a ${shape.name} inside another ${shape.name}`
      return location === 'query' ? undefined : `a ${shape.name}`
    case 'array':
      if (shape.items.kind === 'object') return `a list of ${shape.items.name}`
      return shape.items.kind === 'array' || shape.items.kind === 'union'
        ? `a list of ${shape.items.kind === 'array' ? 'lists' : 'one of several classes'}`
        : undefined
    default:
      return undefined
  }
}
