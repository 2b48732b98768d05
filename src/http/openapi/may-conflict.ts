import { propertiesOf, type Property, type Shape } from '../../schema/shape/shape.js'
import type { Route } from '../routing/route.js'
import { objectsIn } from '../routing/response-classes.js'

/**
 * Whether other records can conflict with what a route writes: a unique value that exists, a reference to a missing record. This is known when
 * the body is made from a model, or has properties of the model that the route returns.
 */
export function mayConflict({ method, plan, response }: Pick<Route, 'method' | 'plan' | 'response'>): boolean {
  const body = plan.inputs.find((input) => input.kind === 'body')?.property.shape
  if (method === 'GET' || !body) return false
  if (hasConstraint(body)) return true
  const written = objectsIn(body).flatMap((shape) => propertiesOf(shape, 'input').map(([name]) => name))
  return constrainedInResponse(response).some((name) => written.includes(name))
}

function hasConstraint(shape: Shape, seen = new Set<Shape>()): boolean {
  if (seen.has(shape)) return false // classes may refer to themselves
  seen.add(shape)
  return objectsIn(shape).some((object) =>
    propertiesOf(object, 'input').some(
      ([, { mayConflict, shape }]) => mayConflict === true || hasConstraint(shape, seen),
    ),
  )
}

// Only of a single record, also inside an envelope: a list contains records that were found, not written.
function constrainedInResponse(response: Shape | undefined): string[] {
  if (response?.kind !== 'object') return []
  const properties = propertiesOf(response, 'output')
  const own = constrainedNames(properties)
  if (own.length > 0) return own
  return properties.flatMap(([, { shape }]) =>
    shape.kind === 'object' ? constrainedNames(propertiesOf(shape, 'output')) : [],
  )
}

function constrainedNames(properties: readonly (readonly [string, Property])[]): string[] {
  return properties.flatMap(([name, { mayConflict }]) => (mayConflict === true ? [name] : []))
}
