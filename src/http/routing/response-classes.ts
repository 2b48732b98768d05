import { type ObjectShape, propertiesOf, type Shape } from '../../schema/shape/shape.js'
import type { Route } from './route.js'

/** What the routes' responses are made of: the class that each part was declared by, and a route that shows it. */
export function classesInResponses(routes: readonly Route[]): ReadonlyMap<unknown, string> {
  const shown = new Map<unknown, string>()
  for (const { name, response, others } of routes) {
    const shapes = [response, ...[...others.values()].map(({ shape }) => shape)]
    for (const shape of shapes) if (shape) add(shape, name, shown)
  }
  return shown
}

function add(shape: Shape, route: string, shown: Map<unknown, string>): void {
  for (const object of objectsIn(shape)) {
    if (shown.has(object.origin)) continue // classes may refer to themselves
    shown.set(object.origin, route)
    for (const [, property] of propertiesOf(object, 'output'))
      if (!property.associated) add(property.shape, route, shown)
  }
}

/** The classes that a value of this shape is of, or its items. */
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
