import type { OpenUnits } from '../../core/bracket.js'
import { BootError } from '../../core/boot-error.js'
import type { Plan, Planner } from '../../di/plan.js'
import type { Constructor } from '../../di/token.js'
import type { SchemaWriter } from '../../schema/json-schema/writer.js'
import type { JsonSchema, Shape } from '../../schema/shape/shape.js'
import { shapeOf } from '../../schema/shape/shape-of.js'
import type { ValidatorCompiler } from '../../schema/input/validate.js'
import { type Bind, compileBind, inputSchema } from '../input/bind.js'
import { controllerOf, type Responses, type RouteDeclaration, type RouteOptions, routesOf } from './controller.js'
import { type Input, RouteInputs } from '../input/parameters.js'
import { type Lifespan, openUnits } from '../lifespan.js'
import { joinPath, parsePath, type Segment } from './path.js'
import { compileRespond, type OtherResponse, type Respond } from '../output/respond.js'

/** Everything that can be known of a handler before the first request. */
export interface Route {
  /** `HeroController.list` */
  readonly name: string
  readonly method: string
  readonly segments: readonly Segment[]
  readonly plan: Plan<Input>
  readonly response: Shape | undefined
  readonly status: number
  /** The status when the handler returns nothing and declares nothing. */
  readonly emptyStatus: number
  /** The successes that the handler answers with by a Reply. */
  readonly others: ReadonlyMap<number, OtherResponse>
  readonly options: RouteOptions
  readonly tags: readonly string[]
  readonly controller: Constructor
  readonly member: string
  readonly schema: JsonSchema
}

/** A route that is ready to serve. */
export interface ServedRoute extends Route {
  readonly bind: Bind
  readonly open: OpenUnits
  readonly respond: Respond
}

/** The routes of a controller, planned. @throws BootError for whatever in them cannot work. */
export function planRoutes(controller: Constructor, planner: Planner<Input>, writer: SchemaWriter): readonly Route[] {
  const { path, tags } = controllerOf(controller)
  const declarations = routesOf(controller)
  if (declarations.length === 0)
    throw new BootError(`${controller.name} has no routes. Put @Get('/'), @Post('/') or the like on its methods.`)
  return declarations.map((declaration) =>
    planRoute(controller, declaration, joinPath(path, declaration.path), tags, planner, writer),
  )
}

function planRoute(
  controller: Constructor,
  declaration: RouteDeclaration,
  path: string,
  tags: readonly string[],
  planner: Planner<Input>,
  writer: SchemaWriter,
): Route {
  const { method, member, options, params } = declaration
  const name = `${controller.name}.${member}`
  const segments = parsePath(path, name)
  const variables = segments.flatMap((segment) => (segment.kind === 'variable' ? [segment.name] : []))
  const plan = planner.plan(controller, member, new RouteInputs(variables, method), params)
  refuseUnusedVariables(name, path, variables, plan.inputs)
  refuseTwoBodies(name, plan.inputs)
  const response = declaration.response === undefined ? undefined : responseShape(declaration.response, name)
  refuseOtherThanSuccess(name, options.status)
  const schema = naming(name, () => inputSchema(plan.inputs, writer))
  return {
    name,
    method,
    segments,
    plan,
    response,
    status: options.status ?? (method === 'POST' ? 201 : 200),
    emptyStatus: options.status ?? 204,
    others: othersOf(options.responses ?? {}, name),
    options,
    tags: options.tags ?? tags,
    controller,
    member,
    schema,
  }
}

/** Compiles what serving a route takes. Called once all routes are planned, as they share the components. */
export function serveRoute(
  route: Route,
  validators: ValidatorCompiler,
  lifespans: readonly Lifespan[],
  bodyLimit: number,
): ServedRoute {
  const { controller, member, method, plan } = route
  const tokens = plan.steps.map(({ token }) => token)
  return {
    ...route,
    bind: compileBind(route.plan.inputs, route.schema, validators, bodyLimit),
    open: openUnits(lifespans, { controller, member, safe: method === 'GET', tokens }),
    respond: compileRespond(route),
  }
}

function responseShape(declaration: unknown, name: string): Shape {
  return naming(`${name}, its response`, () => shapeOf(declaration))
}

/** Makes something, and says of a mistake of the program where it is. */
export function naming<T>(where: string, make: () => T): T {
  try {
    return make()
  } catch (error) {
    throw error instanceof BootError ? new BootError(`${where}: ${error.message}`) : error
  }
}

// Names are read from the function's own text: after minification they are others, and every input would be missing.
function refuseUnusedVariables(
  name: string,
  path: string,
  variables: readonly string[],
  inputs: readonly Input[],
): void {
  const taken = inputs.flatMap((input) => (input.kind === 'value' && input.in === 'path' ? [input.name] : []))
  const unused = variables.filter((variable) => !taken.includes(variable))
  if (unused.length === 0) return
  const found = inputs.flatMap((input) => (input.kind === 'value' ? [input.name] : [])).join(', ') || 'none'
  throw new BootError(
    `${name}: no parameter takes the variable ${unused.map((variable) => `:${variable}`).join(', ')} of ${path}; the inputs found are ${found}. ` +
      `Name a parameter like the variable, or say @Path('${unused[0]}'). If the code was minified, keep parameter names.`,
  )
}

function othersOf(responses: Responses, name: string): ReadonlyMap<number, OtherResponse> {
  const others = Object.entries(responses).map(([status, declared]): [number, OtherResponse] => {
    refuseOtherThanSuccess(name, Number(status))
    return typeof declared === 'string'
      ? [Number(status), { description: declared, shape: undefined }]
      : [Number(status), { description: 'Success', shape: responseShape(declared, name) }]
  })
  return new Map(others)
}

function refuseOtherThanSuccess(name: string, status: number | undefined): void {
  if (status === undefined || (Number.isInteger(status) && status >= 200 && status <= 399)) return
  throw new BootError(
    `${name}: { status: ${status} } is the status of a success, 200 to 399. For another answer throw an HttpError.`,
  )
}

function refuseTwoBodies(name: string, inputs: readonly Input[]): void {
  if (inputs.filter((input) => input.kind === 'body').length > 1) {
    throw new BootError(
      `${name} asks for two bodies, and a request has one. Put both into one class, or mark one of them @Query().`,
    )
  }
}
