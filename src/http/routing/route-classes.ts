import { type Direction, objectsIn, propertiesOf, type Shape } from '../../schema/shape/shape.js'
import type { Route } from './route.js'

/** All classes in the declared responses and inputs of the routes, each with the route: 'Heroes.list returns', 'Heroes.add takes'. */
export function classesInRoutes(routes: readonly Route[]): ReadonlyMap<unknown, string> {
  const found = new Map<unknown, string>()
  for (const { name, response, others, plan, interceptors } of routes) {
    for (const model of interceptors.flatMap(({ models = [] }) => models)) found.set(model, `${name} uses`)
    const responses = [response, ...[...others.values()].map(({ shape }) => shape)]
    for (const shape of responses) if (shape) add(shape, 'output', `${name} returns`, found)
    for (const input of plan.inputs)
      add(input.kind === 'group' ? input.shape : input.property.shape, 'input', `${name} takes`, found)
  }
  return found
}

function add(shape: Shape, direction: Direction, use: string, found: Map<unknown, string>): void {
  for (const object of objectsIn(shape)) {
    if (object.source !== undefined && !found.has(object.source)) found.set(object.source, use)
    if (found.has(object.origin)) continue // classes may refer to themselves
    found.set(object.origin, use)
    for (const [, property] of propertiesOf(object, direction))
      if (!property.associated) add(property.shape, direction, use, found)
  }
}
