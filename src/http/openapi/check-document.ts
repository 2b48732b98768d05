import { BootError, withPlace } from '../../core/boot-error.js'
import { memo } from '../../core/memo.js'
import type { Constructor } from '../../di/token.js'
import { SchemaChecker } from '../../schema/json-schema/checker.js'
import type { Input } from '../input/parameters.js'
import { openApiPath } from '../routing/path.js'
import type { Route } from '../routing/route.js'
import { constrainedIn, mayConflict } from './may-conflict.js'
import { operationIdOf } from './operation.js'
import { PROBLEM_COMPONENTS, writtenResponse } from './responses.js'
import { requirementsOf, sameName, schemesOf, type SecurityScheme } from '../routing/security.js'

/**
 * Finds what is wrong with the OpenAPI document of these routes, without writing it.
 *
 * @throws BootError when two operations have the same operationId, two security schemes or two classes the same name, a class the name of a
 * component that every document has, and for schemas of other libraries that cannot be documented.
 */
export function checkDocument(routes: readonly Route[], models: readonly Constructor[] = []): void {
  const schemas = new SchemaChecker()
  for (const route of routes) checkBodies(route, schemas)
  const ids = new Map<string, string>()
  const paths = new Map<string, Route>()
  const checkModels = checksModels(models)
  for (const route of routes) {
    withPlace(`${route.name}, its response`, () => {
      checkOperation(route, schemas)
      checkModels(route)
    })
    refuseSamePath(paths, route)
    refuseSecondId(ids, operationIdOf(route), route.name)
  }
  refuseSecondScheme(routes)
  for (const [name] of PROBLEM_COMPONENTS) refuseTakenName(schemas.names, name)
}

// Checked first, as they are written first.
function checkBodies({ name, plan }: Route, schemas: SchemaChecker): void {
  for (const input of plan.inputs)
    if (input.kind === 'body') withPlace(`${name}, its body`, () => schemas.check(input.property.shape, 'input'))
}

/** In the order in which the parts of an operation are written. */
function checkOperation(route: Route, schemas: SchemaChecker): void {
  for (const input of route.plan.inputs) checkParameters(input, schemas)
  for (const { shape } of route.others.values()) if (shape) schemas.check(shape, 'output')
  const response = writtenResponse(route)
  if (response) schemas.check(response, 'output')
  requirementsOf(route.plan)
}

function checkParameters(input: Input, schemas: SchemaChecker): void {
  if (input.kind === 'value') schemas.checkParameter(input.property)
  if (input.kind === 'group') schemas.checkParameters(input.shape)
}

/** Whether a route documents a conflict is decided by the columns of all models: they are read once, and what is wrong with them is found. */
function checksModels(models: readonly Constructor[]): (route: Route) => void {
  let isDone = models.length === 0
  const constrained = memo(() => {
    const names = constrainedIn(models)
    isDone = true
    return names
  })
  return (route) => {
    if (!isDone) mayConflict(route, constrained)
  }
}

// OpenAPI has no tails: '/files/:name' and '/files/*name' are both '/files/{name}'.
function refuseSamePath(known: Map<string, Route>, route: Route): void {
  const path = `${route.method} ${openApiPath(route.segments)}`
  const other = known.get(path)
  if (other)
    throw new BootError(
      `${route.name} and ${other.name} are both ${path} in the OpenAPI document. Rename the variable of one of them.`,
    )
  known.set(path, route)
}

function refuseSecondScheme(routes: readonly Route[]): void {
  const schemes = new Map<string, SecurityScheme>()
  for (const { plan } of routes)
    for (const { name, scheme } of schemesOf(plan)) {
      if ((schemes.get(name) ?? scheme) !== scheme) throw sameName('Two security schemes', name)
      schemes.set(name, scheme)
    }
}

function refuseTakenName(names: ReadonlyMap<string, unknown>, name: string): void {
  if (names.has(name))
    throw new BootError(`A class has the name ${name}, which the OpenAPI document uses for errors. Rename the class.`)
}

function refuseSecondId(ids: Map<string, string>, id: string, name: string): void {
  const other = ids.get(id)
  if (other !== undefined) {
    throw new BootError(
      `${name} and ${other} have the same operationId '${id}'. Rename a controller, or write { operationId: '...' } for one.`,
    )
  }
  ids.set(id, name)
}
