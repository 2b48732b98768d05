import { BootError, withPlace } from '../../core/boot-error.js'
import type { QueryLimits } from '../../core/events/query-counter.js'
import { integer } from '../../core/option-checks.js'
import type { Argument, Plan, Planner, Step } from '../../di/plan.js'
import { buildFirst, inputsOfStages, stepsOfStage } from '../../di/plan-order.js'
import type { RouteFacts, TransactionDescription } from '../../di/route-facts.js'
import type { Constructor, Token } from '../../di/token.js'
import type { SchemaWriter } from '../../schema/json-schema/writer.js'
import { refuseFiles } from '../../schema/output/refuse-files.js'
import type { Shape } from '../../schema/shape/shape.js'
import { shapeOf } from '../../schema/shape/shape-of.js'
import type { ValidatorCompiler } from '../../schema/input/validate.js'
import { type Bind, compileBind, type InputStages, type InputsSchema, inputSchema } from '../input/bind.js'
import { type Around, requireAround } from './around.js'
import { type InterceptableRoute, type Interceptor, interceptorsOf } from './interceptor.js'
import { liveInterceptors } from './live.js'
import { paginationOf } from './paginated.js'
import { type ControllerDeclaration, controllerOf, requireTags } from './controller.js'
import { type Responses, type RouteDeclaration, type RouteOptions, routesOf } from './methods.js'
import { type Input, RouteInputs } from '../input/parameters.js'
import { refuseRequiredFields, refuseWrongInputs } from './refuse-wrong-inputs.js'
import { runRouteChecks } from './route-checks.js'
import { type Lifespan, type UnitOpener, unitOpeners } from '../lifespan.js'
import { requireTokens } from './guard.js'
import { authenticates, refuseUselessScopes } from './security.js'
import type { MiddlewareStep } from './middleware.js'
import { limitsOf } from '../observation/query-budget.js'
import { cachingHeaders } from '../client-sources.js'
import { budgetOf } from './budget.js'
import { joinPath, openApiPath, parsePath, pathPattern, variablesOf } from './path.js'
import type { Routable } from './router.js'
import { isEvents } from '../output/events.js'
import { type ItemStream, streamOf } from '../output/declared-stream.js'
import {
  compileRespond,
  hasBody,
  isJson,
  type OtherResponse,
  type Respond,
  type RespondingRoute,
} from '../output/respond.js'

/** A handler with its method, path, inputs and responses; planned at startup. */
export interface Route extends RespondingRoute, Routable {
  readonly plan: Plan<Input>
  readonly stream: ItemStream | undefined
  readonly options: RouteOptions
  readonly tags: readonly string[]
  /** Runs before the inputs are read. */
  readonly middleware: readonly MiddlewareStep[]
  /** The functions that wrap the call of the handler, the outermost first. */
  readonly around: readonly Around[]
  readonly interceptors: readonly Interceptor[]
  readonly controller: Constructor
  readonly member: string
  readonly schema: InputsSchema
}

/** A route with the compiled functions that serve its requests. */
export interface ServedRoute extends Route {
  /** Its path, as it is declared: `/heros/:hero_id`. */
  readonly pattern: string
  /** The limits of its statements. */
  readonly limits: QueryLimits
  readonly bind: Bind
  readonly openers: readonly UnitOpener[]
  /** Whether the handler may end with a page: it can, and nothing that the app has declared runs between its end and the response. */
  readonly mayEndWithPage: boolean
  /** Whether the handler's writes are kept when it is abandoned: it has no transaction. */
  readonly isKeptUnfinished: boolean
  readonly respond: Respond
}

/** The context in which the routes of an app are planned. */
export interface RoutePlanning {
  /** The prefix of the paths of all routes. */
  readonly prefix: string
  readonly planner: Planner
  readonly writer: SchemaWriter
  readonly lifespans: readonly Lifespan[]
}

/**
 * Plans the routes of a controller.
 *
 * @throws BootError for every mistake in them.
 */
export function planRoutes(controller: Constructor, planning: RoutePlanning): readonly Route[] {
  const declared = controllerOf(controller)
  const declarations = routesOf(controller)
  if (declarations.length === 0)
    throw new BootError(`${controller.name} has no routes. Put @Get('/'), @Post('/') or the like on its methods.`)
  if ('then' in controller.prototype)
    throw new BootError(`${controller.name}.then: an instance with a then() is taken for a promise. Rename the method.`)
  return declarations.map((declaration) => planRoute(controller, declared, declaration, planning))
}

function planRoute(
  controller: Constructor,
  declared: ControllerDeclaration,
  declaration: RouteDeclaration,
  planning: RoutePlanning,
): Route {
  const { method, member, options } = declaration
  const { prefix, writer, lifespans } = planning
  const name = `${controller.name}.${member}`
  const path = joinPath(prefix, declared.path, declaration.path)
  const segments = parsePath(path, name)
  const placed = { name, path, variables: variablesOf(segments) }
  const plan = planHandler(controller, declared, declaration, placed, planning)
  const responses = responsesOf(declaration, name)
  refuseWrongOptions(name, options, responses.response)
  requireBodyLimit(name, options, plan.inputs)
  refuseRequiredFields(name, plan.inputs, responses.response)
  runRouteChecks(plan, { name, handler: Reflect.get(controller.prototype, member), response: responses.response })
  const schema = withPlace(name, () => inputSchema(plan.inputs, writer))
  const handler = { name, method, controller, member, plan, segments }
  const interceptable = interceptableRoute(handler, responses, options, lifespans)
  return {
    ...handler,
    ...responses,
    schema,
    options,
    others: othersOf(options.responses ?? {}, name),
    tags: options.tags ?? declared.tags,
    middleware: declared.middleware,
    around: [...declared.around, ...aroundOf(name, options)],
    interceptors: [...interceptorsOf(interceptable), ...liveInterceptors(options.live, interceptable)],
  }
}

function interceptableRoute(
  handler: PlannedHandler,
  responses: ReturnType<typeof responsesOf>,
  options: RouteOptions,
  lifespans: readonly Lifespan[],
): InterceptableRoute {
  return {
    ...handler,
    status: responses.status,
    sendsJson: sendsJson(responses, options),
    sendsEvents: responses.sendsEvents,
    pattern: pathPattern(handler.segments),
    transactions: transactionsOf(factsOf(handler), lifespans),
    hasDatabase: lifespans.length > 0,
  }
}

interface PlacedHandler {
  /** `HeroController.list` */
  readonly name: string
  readonly path: string
  readonly variables: readonly string[]
}

function planHandler(
  controller: Constructor,
  declared: ControllerDeclaration,
  { method, member, options, params }: RouteDeclaration,
  { name, path, variables }: PlacedHandler,
  { planner }: RoutePlanning,
): Plan<Input> {
  const requires = [...declared.requires, ...requirementsOf(name, options)]
  refuseUselessScopes(name, requires)
  const planned = planner.plan(controller, member, new RouteInputs(variables, method), { params, requires })
  const isFirst = (token: Token) => authenticates(token) || requires.includes(token)
  const plan = buildFirst(planned, isFirst, waitsForBody(planned.inputs))
  refuseWrongInputs(name, path, variables, plan.inputs)
  return plan
}

/** The responses of a route. */
function responsesOf({ method, response: declared, options }: RouteDeclaration, name: string) {
  const sendsEvents = isEvents(declared)
  if (sendsEvents) refuseOtherForEvents(name, options)
  const stream = streamOf(declared)
  if (stream) refuseOtherForStream(name, options)
  const body = isEvents(declared) ? declared.eventsOf : (stream?.of ?? declared)
  const response = body === undefined && !sendsEvents ? undefined : responseShape(body, name)
  const hasResponse = response !== undefined || options.produces !== undefined
  return {
    response,
    sendsEvents,
    stream,
    status: options.status ?? usualStatus(method, hasResponse, sendsEvents || stream !== undefined),
    emptyStatus: options.status ?? 204,
  }
}

function sendsJson({ sendsEvents, stream }: ReturnType<typeof responsesOf>, { produces }: RouteOptions): boolean {
  return !sendsEvents && stream === undefined && (produces === undefined || isJson(produces))
}

function refuseWrongOptions(name: string, options: RouteOptions, response: Shape | undefined): void {
  requireSuccess(name, options.status)
  requireErrors(name, options.errors ?? {})
  requireTags(options.tags, `${name}: tags`)
  if (response) refuseEmptyStatus(name, options.status)
}

/**
 * The steps that are built when the body has arrived, of a route that takes a form, which is stored: those with an input of it, and those whose
 * resource would be held while the client sends. Undefined for other routes, whose bodies are received first.
 */
function waitsForBody(inputs: readonly Input[]): ((step: Step) => boolean) | undefined {
  if (!inputs.some((input) => input.kind === 'body' && input.media !== undefined)) return undefined
  const isOfBody = ({ kind, index }: Argument) => kind === 'input' && inputs[index]?.kind === 'body'
  return ({ provider, arguments: args }) => provider.kind === 'managed' || args.some(isOfBody)
}

function stagesOf(plan: Plan<Input>): InputStages {
  const waits = waitsForBody(plan.inputs)
  const inputs = inputsOfStages(plan)
  return { inputs, receivesLate: waits !== undefined && inputs.length > 0 && !stepsOfStage(plan, 0).some(waits) }
}

// A DELETE returns the result of the database, such as a number of rows.
function usualStatus(method: string, hasResponse: boolean, isStream: boolean): number {
  if (method === 'DELETE' && !hasResponse) return 204
  return method === 'POST' && !isStream ? 201 : 200
}

function requirementsOf(name: string, { requires = [] }: RouteOptions): readonly Token[] {
  requireTokens(requires, `${name}: requires`)
  return requires
}

function aroundOf(name: string, { around = [] }: RouteOptions): readonly Around[] {
  requireAround(around, `${name}: around`)
  return around
}

/** What all routes of an app are served with. */
export interface RouteServing {
  readonly validators: ValidatorCompiler
  readonly lifespans: readonly Lifespan[]
  /** The limits of the statements of a request. */
  readonly limits: QueryLimits
  /** In bytes. */
  readonly bodyLimit: number
  /** Logs a mistake that changes no response. */
  warn(text: string): void
}

/** Compiles a route. Called when all routes are planned, because they share the components of their schemas. */
export function serveRoute(route: Route, serving: RouteServing): ServedRoute {
  const { plan } = route
  const { validators, lifespans, limits, bodyLimit } = serving
  const keepsBody = route.interceptors.some(({ readsBody }) => readsBody === true)
  const isLimited = lifespans.some(({ needsRequest }) => needsRequest === true)
  return {
    ...route,
    pattern: pathPattern(route.segments),
    limits: limitsOf(budgetOf(route.controller, route.member), limits),
    bind: compileBind(plan.inputs, route.schema, validators, {
      bodyLimit: route.options.bodyLimit ?? bodyLimit,
      keepsBody,
      stages: stagesOf(plan),
    }),
    openers: unitOpeners(lifespans, factsOf(route)),
    mayEndWithPage:
      paginationOf(plan)?.style === 'offset' &&
      route.around.length + route.interceptors.length === 0 &&
      route.plan.steps.every(({ provider }) => provider.kind !== 'managed'),
    isKeptUnfinished: writesOutsideOfTransactions(route, lifespans),
    respond: compileRespond({ ...route, caching: cachingHeaders(plan, isLimited) }, (text) => serving.warn(text)),
  }
}

function writesOutsideOfTransactions(route: Route, lifespans: readonly Lifespan[]): boolean {
  const isSafe = route.method === 'GET'
  return !isSafe && lifespans.length > 0 && transactionsOf(factsOf(route), lifespans).length === 0
}

/** The facts that the databases may know of a route. */
export function factsOf({ controller, member, method, name, plan, segments }: PlannedHandler): RouteFacts {
  return {
    name: `${method} ${openApiPath(segments)} (${name})`,
    controller,
    member,
    safe: method === 'GET',
    tokens: plan.steps.map(({ token }) => token),
  }
}

type PlannedHandler = Pick<Route, 'controller' | 'member' | 'method' | 'name' | 'plan' | 'segments'>

/** The transactions that each request of a route has. */
export function transactionsOf(facts: RouteFacts, lifespans: readonly Lifespan[]): readonly TransactionDescription[] {
  return lifespans.flatMap((lifespan) => lifespan.transactionOf?.(facts) ?? [])
}

// Clients read events only of a 200 with their own media type.
function refuseOtherForEvents(name: string, { status, produces }: RouteOptions): void {
  if (produces !== undefined)
    throw new BootError(
      `${name} declares events and produces ${produces}. Remove produces: events are text/event-stream.`,
    )
  if (status !== undefined && status !== 200)
    throw new BootError(`${name} declares events with the status ${status}. Remove the status: events have 200.`)
}

// Its media types, and what each has, are its own.
function refuseOtherForStream(name: string, { status, produces, responses }: RouteOptions): void {
  const other = Object.entries({ status, produces, responses }).find(([, value]) => value !== undefined)
  if (other)
    throw new BootError(
      `${name} declares a stream of items, and the option ${other[0]}. Remove it: a stream has the status 200, and media types of its own.`,
    )
}

function responseShape(declaration: unknown, name: string): Shape {
  const where = `${name}, its response`
  const shape = withPlace(where, () => shapeOf(declaration))
  refuseFiles(shape, where)
  return shape
}

function othersOf(responses: Responses, name: string): ReadonlyMap<number, OtherResponse> {
  const others = Object.entries(responses).map(([status, declared]): [number, OtherResponse] => {
    requireSuccess(name, Number(status))
    return typeof declared === 'string'
      ? [Number(status), { description: declared, shape: undefined }]
      : [refuseEmptyStatus(name, Number(status)), { description: 'Success', shape: responseShape(declared, name) }]
  })
  return new Map(others)
}

function requireSuccess(name: string, status: number | undefined): void {
  if (status === undefined || (Number.isInteger(status) && status >= 200 && status <= 399)) return
  throw new BootError(
    `${name}: status is ${status}. Write the status of a success, 200 to 399; for an error, throw an HttpError.`,
  )
}

const checkBodyLimit = integer('bytes, as in 10_000_000', 1, Number.MAX_SAFE_INTEGER)

function requireBodyLimit(name: string, { bodyLimit }: RouteOptions, inputs: readonly Input[]): void {
  if (bodyLimit === undefined) return
  checkBodyLimit(bodyLimit, `${name}: bodyLimit`)
  if (inputs.some(({ kind }) => kind === 'body')) return
  throw new BootError(`${name}: bodyLimit limits a body, and the handler takes none. Remove it.`)
}

function requireErrors(name: string, errors: Readonly<Record<string, string>>): void {
  const other = Object.keys(errors).find((status) => !/^[45]\d\d$/.test(status))
  if (other === undefined) return
  throw new BootError(
    `${name}: errors has the status ${other}. Write the status of an error, 400 to 599; for another success, write responses: { ${other}: ... }.`,
  )
}

/** The status of a declared response. @throws BootError for one without a body, with which the response would not be sent. */
function refuseEmptyStatus(name: string, status = 200): number {
  if (hasBody(status)) return status
  throw new BootError(
    `${name} declares a response with the status ${status}, which has no body. Remove the response, or write another status: 200, or 201 for POST.`,
  )
}
