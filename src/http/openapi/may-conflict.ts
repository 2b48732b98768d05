import type { Constructor } from '../../di/token.js'
import { isDescribed, shapeOf } from '../../schema/shape/shape-of.js'
import { objectsIn, propertiesOf, type Property, type Shape } from '../../schema/shape/shape.js'
import { namesInBody } from '../input/body-places.js'
import type { Route } from '../routing/route.js'

/**
 * Whether other records can conflict with what a route writes: a unique value that exists, a reference to a missing record. This is known when
 * the body is made from a model, or has properties of the model that the route returns. If the route returns no model, its body is compared
 * with all models of the app.
 */
export function mayConflict(
  { method, plan, response }: Pick<Route, 'method' | 'plan' | 'response'>,
  constrainedInModels: () => readonly string[],
): boolean {
  const body = plan.inputs.find((input) => input.kind === 'body')?.property.shape
  if (method === 'GET' || !body) return false
  if (hasConstraint(body)) return true
  const constrained = returnsModel(response) ? constrainedInResponse(response) : constrainedInModels()
  if (constrained.length === 0) return false
  const written = namesInBody(body)
  return constrained.some((name) => written.has(name))
}

/** The names of the columns of these models that a conflict can concern. */
export function constrainedIn(models: readonly Constructor[]): readonly string[] {
  const shapes = models.filter(isDescribed).map((model) => shapeOf(model))
  return shapes.flatMap((shape) => (shape.kind === 'object' ? constrainedNames([...shape.properties()]) : []))
}

function returnsModel(response: Shape | undefined, seen = new Set<Shape>()): boolean {
  if (!response || seen.has(response)) return false
  seen.add(response)
  return objectsIn(response).some(
    (object) =>
      object.keyNames !== undefined ||
      propertiesOf(object, 'output').some(([, { shape }]) => returnsModel(shape, seen)),
  )
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
