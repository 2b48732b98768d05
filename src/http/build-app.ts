import type { OpenAPIObject } from 'openapi3-ts/oas31'
import type { FindErrorStatus } from '../core/error-status.js'
import { type QueryLimits, UNLIMITED } from '../core/events/query-counter.js'
import { type Background, openBackground, type RunObservation } from './background.js'
import { Container } from '../di/container.js'
import { Planner } from '../di/plan.js'
import { provide, type Provision } from '../di/provider.js'
import { COMPONENT, ValidatorCompiler } from '../schema/input/validate.js'
import { SchemaWriter } from '../schema/json-schema/writer.js'
import { type AppOptions, cursorSecret, DEFAULT_TIMEOUTS } from './app-options.js'
import { compileErrorFormat } from './error-format.js'
import { findMappedIn } from './error-mapping.js'
import { AppTokens } from './client-tokens.js'
import { Health } from './health/health.js'
import { healthSettings } from './health/health-options.js'
import { type Lifespan, lifespansOf } from './lifespan.js'
import type { ErrorBodies, ErrorRules } from './problem.js'
import { openRelays, type Relays } from './relays.js'
import { docs } from './openapi/docs-page.js'
import { checkOpenApiDocument, infoOf, openApiDocument } from './openapi/document.js'
import { type BudgetOfApp, limitsOf, type ReportExcess, warnOnce } from './observation/query-budget.js'
import { callingTrace } from './observation/calling-trace.js'
import { explainIn, PlanLog } from './observation/plan-log.js'
import type { LogOptions } from './observation/log-options.js'
import { RequestLogger } from './observation/request-logger.js'
import { RequestLog } from './observation/request-log.js'
import { RequestRecorder } from './observation/request-recorder.js'
import { ReplyHeaders } from './output/reply.js'
import { Request } from './request.js'
import { budgetOf } from './routing/budget.js'
import { refuseIgnoredDecorators } from './routing/refuse-ignored-decorators.js'
import { planRoutes, type Route, type ServedRoute, serveRoute } from './routing/route.js'
import { Router } from './routing/router.js'
import { appLog, Log, SILENT } from './server/logger.js'
import { compileMiddleware } from './routing/middleware.js'
import type { ListenerParts } from './server/request-listener.js'

/** Everything of an app that is computed at startup, before anything is opened. */
export interface BuiltApp extends ListenerParts {
  readonly lifespans: readonly Lifespan[]
  readonly routes: readonly Route[]
  /** Undefined for an app without jobs. */
  readonly background: Background | undefined
  /** Undefined for an app without relays. */
  readonly relays: Relays | undefined
  readonly openapi: () => OpenAPIObject
}

/** In bytes. */
export const DEFAULT_BODY_LIMIT = 1024 * 1024

/**
 * Plans the routes of an app and compiles what serves them. Opens nothing.
 *
 * @throws BootError for every mistake in routes, parameters, injection and schemas.
 */
export function buildApp(options: AppOptions, onExceeded?: ReportExcess): BuiltApp {
  const log = new Log(options.logger === false ? SILENT : (options.logger ?? console), options.log?.format)
  const lifespans = lifespansOf(options)
  const planner = new Planner(allProvisions(options, lifespans, log))
  const { unknownFields } = options
  const inputs = new SchemaWriter({ forValidation: true, prefix: COMPONENT, unknownFields })
  const planning = { prefix: options.prefix ?? '/', planner, writer: inputs, lifespans }
  const routes = options.controllers.flatMap((controller) => planRoutes(controller, planning))
  const container = new Container(planner.shared)
  const observation = observationOf(options, lifespans, log, onExceeded)
  const background = openBackground(options, { planner, container, lifespans, log, work: options.work, observation })
  refuseIgnoredDecorators(routes, background?.handlers, planner.shared, lifespans.length > 0)
  const budget = observation.budgetOf(routes)
  const bodies = compileErrorFormat(options.errors?.format)
  const health = healthSettings(options.health)
  const documented = { ...options, health }
  const openapi = () => openApiDocument(routes, new SchemaWriter({ unknownFields }), documented, bodies)
  checkOpenApiDocument(routes, documented, bodies)
  return {
    lifespans,
    routes,
    openapi,
    log,
    recorder: new RequestRecorder(observation.log && new RequestLog(log, observation.log, observation.plans), budget),
    router: newRouter(routes, new ValidatorCompiler(inputs.components), budget.limits, options, log),
    container,
    background,
    relays: openRelays(options.relays, lifespans, log, options.work),
    tokens: new AppTokens(),
    docs: options.docs === false ? new Map() : docs(openapi, infoOf(options.info).title, routes),
    health: health && new Health(health, lifespans, log, routes),
    middleware: (options.middleware ?? []).map((entry, index) =>
      compileMiddleware(entry, `createApp(): middleware[${index}]`),
    ),
    handlerTimeout: options.timeouts?.handler ?? DEFAULT_TIMEOUTS.handler,
    errorRules: errorRulesOf(options, lifespans, bodies),
  }
}

function observationOf(
  options: AppOptions,
  lifespans: readonly Lifespan[],
  log: Log,
  onExceeded: ReportExcess | undefined,
): RunObservation {
  return {
    log: logOptionsOf(options),
    plans: options.log?.explain === true ? new PlanLog(log, explainIn(lifespans)) : undefined,
    budgetOf: (handlers) => budgetOfApp(options, handlers, log, onExceeded),
  }
}

function errorRulesOf({ errors = {} }: AppOptions, lifespans: readonly Lifespan[], bodies: ErrorBodies): ErrorRules {
  const { mappings = [], translate } = errors
  return { findMapped: findMappedIn(mappings), findStatus: findErrorStatusIn(lifespans), bodies, translate }
}

/** Undefined for an app that logs neither requests nor jobs. */
function logOptionsOf({ log = {}, logger }: AppOptions): LogOptions | undefined {
  const { requests = false, slow } = log
  return logger === false || (!requests && slow === undefined) ? undefined : log
}

// A test has no default limits: only those that it names. In production nothing is counted, unless a subscriber listens.
function budgetOfApp(
  { queryBudget, logger }: AppOptions,
  handlers: Parameters<RunObservation['budgetOf']>[0],
  log: Log,
  onExceeded: ReportExcess | undefined,
): BudgetOfApp {
  const limits = onExceeded && queryBudget === undefined ? UNLIMITED : limitsOf(queryBudget)
  const isLimited = limits !== UNLIMITED || handlers.some(({ controller, member }) => budgetOf(controller, member))
  if (!isLimited) return { limits, report: undefined }
  const isProduction = process.env['NODE_ENV'] === 'production'
  const warn = isProduction || logger === false ? undefined : warnOnce((text) => log.warn(text))
  return { limits, report: onExceeded ?? warn }
}

// The last provision of a token wins. Every database provides the common Session token, which stands for the first one.
function allProvisions(options: AppOptions, lifespans: readonly Lifespan[], log: Log): readonly Provision[] {
  return [
    ...[Request, RequestLogger, ReplyHeaders, AbortSignal, callingTrace].map((token): Provision => ({
      token,
      provider: { kind: 'given' },
    })),
    provide(cursorSecret, { value: options.cursorSecret }),
    provide(appLog, { value: log }),
    ...lifespans.toReversed().flatMap((lifespan) => lifespan.provisions),
    ...(options.providers ?? []),
  ]
}

function newRouter(
  routes: readonly Route[],
  validators: ValidatorCompiler,
  limits: QueryLimits,
  options: AppOptions,
  log: Log,
): Router<ServedRoute> {
  const router = new Router<ServedRoute>()
  const { bodyLimit = DEFAULT_BODY_LIMIT } = options
  const serving = {
    validators,
    lifespans: lifespansOf(options),
    limits,
    bodyLimit,
    warn: (text: string) => log.warn(text),
  }
  for (const route of routes) router.add(serveRoute(route, serving))
  return router
}

function findErrorStatusIn(lifespans: readonly Lifespan[]): FindErrorStatus {
  return (error) => {
    for (const lifespan of lifespans) {
      const status = lifespan.findErrorStatus(error)
      if (status) return status
    }
    return undefined
  }
}
