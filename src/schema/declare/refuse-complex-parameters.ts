import { BootError } from '../../core/boot-error.js'
import type { Shape } from '../shape/shape.js'

type TextPlace = 'path' | 'query' | 'header'

/**
 * Refuses what no text of the path, the query or a header can hold.
 *
 * @param where names the input in the message.
 * @throws BootError that says what to write instead.
 */
export function refuseComplexParameters(shape: Shape, place: TextPlace, where: string): void {
  if (shape.kind !== 'object' || place === 'path') return refuse(shape, place, where, [])
  // Each property is an input of its own.
  for (const [name, property] of shape.properties())
    refuse(property.shape, place, `${where}, ${shape.name}.${name}`, [shape.origin])
}

function refuse(shape: Shape, place: TextPlace, where: string, around: readonly unknown[]): void {
  const what = complexTypeOf(shape, place, around)
  if (what !== undefined)
    throw new BootError(
      `${where}: ${what} cannot stand in the ${place}. Take it in the body, or as texts: { type: [String] }.`,
    )
  if (shape.kind !== 'object') return
  for (const [name, property] of shape.properties())
    refuse(property.shape, place, `${where}, ${shape.name}.${name}`, [...around, shape.origin])
}

function complexTypeOf(shape: Shape, place: TextPlace, around: readonly unknown[]): string | undefined {
  switch (shape.kind) {
    case 'union':
      return 'one of several classes'
    case 'object':
      if (around.includes(shape.origin)) return `a ${shape.name} within another`
      return place === 'query' ? undefined : `a ${shape.name}`
    case 'array':
      if (shape.items.kind === 'object') return `a list of ${shape.items.name}`
      return shape.items.kind === 'array' || shape.items.kind === 'union'
        ? 'a list of more than single values'
        : undefined
    default:
      return undefined
  }
}
