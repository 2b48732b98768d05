import { type ObjectShape, propertiesOf, type Shape } from '../../schema/shape/shape.js'
import type { Route } from './route.js'

/** All classes in the declared responses of the routes, each with the name of a route that returns it. */
export function classesInResponses(routes: readonly Route[]): ReadonlyMap<unknown, string> {
  const found = new Map<unknown, string>()
  for (const { name, response, others } of routes) {
    const shapes = [response, ...[...others.values()].map(({ shape }) => shape)]
    for (const shape of shapes) if (shape) add(shape, name, found)
  }
  return found
}

function add(shape: Shape, route: string, found: Map<unknown, string>): void {
  for (const object of objectsIn(shape)) {
    if (found.has(object.origin)) continue // classes may refer to themselves
    found.set(object.origin, route)
    for (const [, property] of propertiesOf(object, 'output'))
      if (!property.associated) add(property.shape, route, found)
  }
}

/** The object shapes that a value of this shape, or the items of a list, can have. */
export function objectsIn(shape: Shape): readonly ObjectShape[] {
  switch (shape.kind) {
    case 'object':
      return [shape]
    case 'array':
      return objectsIn(shape.items)
    case 'union':
      return [...shape.options().values()]
    default:
      return []
  }
}
