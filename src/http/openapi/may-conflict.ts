import { propertiesOf, type Property, type Shape } from '../../schema/shape/shape.js'
import type { Route } from '../routing/route.js'
import { objectsIn } from '../routing/response-classes.js'

/**
 * Whether other records can stand against what a route writes. It is known where the body is made from a model, or where it has
 * the properties of the model that the route answers with.
 */
export function mayConflict({ method, plan, response }: Pick<Route, 'method' | 'plan' | 'response'>): boolean {
  const body = plan.inputs.find((input) => input.kind === 'body')?.property.shape
  if (method === 'GET' || !body) return false
  if (shapeMayConflict(body)) return true
  const written = objectsIn(body).flatMap((shape) => propertiesOf(shape, 'input').map(([name]) => name))
  return conflictingNamesIn(response).some((name) => written.includes(name))
}

function shapeMayConflict(shape: Shape, seen = new Set<Shape>()): boolean {
  if (seen.has(shape)) return false // classes may refer to themselves
  seen.add(shape)
  return objectsIn(shape).some((object) =>
    propertiesOf(object, 'input').some(
      ([, { mayConflict, shape }]) => mayConflict === true || shapeMayConflict(shape, seen),
    ),
  )
}

// Of a single record, also in an envelope: a list is what was found, not what was written.
function conflictingNamesIn(response: Shape | undefined): string[] {
  if (response?.kind !== 'object') return []
  const properties = propertiesOf(response, 'output')
  const own = namesThatMayConflict(properties)
  if (own.length > 0) return own
  return properties.flatMap(([, { shape }]) =>
    shape.kind === 'object' ? namesThatMayConflict(propertiesOf(shape, 'output')) : [],
  )
}

function namesThatMayConflict(properties: readonly (readonly [string, Property])[]): string[] {
  return properties.flatMap(([name, { mayConflict }]) => (mayConflict === true ? [name] : []))
}
