import { isRecord } from '../core/records.js'
import { BootError } from '../core/boot-error.js'
import {
  both,
  callback,
  checkOptions,
  fitting,
  flag,
  integer,
  list,
  milliseconds,
  type OptionChecks,
  options,
  text,
  unchecked,
} from '../core/option-checks.js'
import { NOT_LOADED, shown } from '../core/options.js'
import { refuseShortSecret } from '../core/cursor-secret.js'
import { isProvision, type Provision } from '../di/provider.js'
import { classes, type Constructor, isConstructor, token, tokenName } from '../di/token.js'
import { type ErrorFormat, isErrorFormat } from './error-format.js'
import { type ErrorMapping, isErrorMapping } from './error-mapping.js'
import { checkBudget, type QueryBudgetOption } from './observation/query-budget.js'
import type { Translate } from './problem.js'
import { requireRule, type UnknownFieldsRule } from '../schema/declare/unknown-fields.js'
import { checkHealthOptions, type HealthOptions } from './health/health-options.js'
import type { Lifespan } from './lifespan.js'
import { checkLogOptions, type LogOptions } from './observation/log-options.js'
import type { Logger } from './server/logger.js'
import { compileMiddleware, type Middleware, type ScopedMiddleware } from './routing/middleware.js'
import type { ApiDescription } from './openapi/document.js'
import { parsePath } from './routing/path.js'
import { type AppRelay, requireRelay } from './relays.js'

/** The options of `createApp()`. Only `controllers` is required; a wrong option is a BootError. */
export interface AppOptions extends ApiDescription {
  readonly controllers: readonly Constructor[]
  /** Precedes the paths of all routes: `/api/v1`. `/docs` and `/openapi.json` have none. Default `/`. */
  readonly prefix?: string
  /** The models of the database; of the first one, when `lifespan` is a list. */
  readonly models?: readonly Constructor[]
  /** The database, or several: `lifespan`, which reads the environment, or what `newLifespan(url)` returns. */
  readonly lifespan?: Lifespan | readonly Lifespan[]
  /** Values, classes and factories for tokens, made by `provide(...)`; they also replace `@Injectable()` classes. */
  readonly providers?: readonly Provision[]
  /** The classes with jobs, of `sequitur/jobs`. */
  readonly jobs?: readonly Constructor[]
  /** What hands events over to other systems, made by `forward()` of `sequitur/feeds`. They run where jobs do. */
  readonly relays?: readonly AppRelay[]
  /**
   * How many jobs of each queue this process runs at once: `{ mail: 5, default: 10 }`. Default: none; jobs are only added, and run by `npx sequitur work`. `{}` for
   * a process that runs relays, and no jobs.
   */
  readonly work?: Readonly<Record<string, number>>
  /** Connect-style middleware, run in order before the routes; `{ path: '/admin', use: guard }` runs only for that path and those below it. */
  readonly middleware?: readonly (Middleware | ScopedMiddleware)[]
  /**
   * Signs the cursors of pages, and encrypts the tokens of `newLifespan(url, { readYourWrites })`: at least 16 characters, the same in all processes.
   * Default: the environment variable `toolkit_cursor_secret`, else a random key of this process, with a warning at startup.
   */
  readonly cursorSecret?: string
  /** Whether `/docs` and `/openapi.json` are served. Default true. */
  readonly docs?: boolean
  /**
   * Answers `/livez`, 200 while the process serves, and `/readyz`, 200 while the app is started, every database answers and the app does not close. They
   * precede middleware and have no `prefix`. Default false.
   */
  readonly health?: boolean | HealthOptions
  /** Receives log entries; `false` disables logging. Default `console`. */
  readonly logger?: Logger | false
  /** The entries that the log has in addition to errors: one for each request and each run of a job, or for each that is slow. */
  readonly log?: LogOptions
  /**
   * How many statements a request, or a job, may send, and how often the same one; more are a warning in development, when NODE_ENV is not `production`, once for
   * each route and statement. `@Budget()` on a route, or a job, takes precedence. Default `{ repeats: 10 }`.
   */
  readonly queryBudget?: QueryBudgetOption
  /**
   * Whether a body with properties that its class does not declare is a 422, or they are ignored. Default `'refuse'`. `@UnknownFields()` on a class
   * takes precedence.
   */
  readonly unknownFields?: UnknownFieldsRule
  /** The largest body in bytes. Default 1 MiB. */
  readonly bodyLimit?: number
  /**
   * The most connections that are open at a time; further ones are closed without a response. Default: no limit, because the right one depends on
   * the memory and the file limit of the process, and on how many connections a load balancer keeps open.
   */
  readonly maxConnections?: number
  readonly timeouts?: Timeouts
  readonly errors?: ErrorSettings
}

/** The settings for errors. */
export interface ErrorSettings {
  /** Statuses of the program's own error classes. The first mapping that fits is used, before the statuses of database errors. */
  readonly mappings?: readonly ErrorMapping[]
  /** The body of every error response. Default: problem details (RFC 9457). */
  readonly format?: ErrorFormat
  /**
   * Translates what a client reads, the detail of an error response and the message of each issue: called with the English text, the request, and the
   * issue that the text belongs to. Undefined keeps the text. Not called for requests that could not be read.
   */
  readonly translate?: Translate
}

/** Time limits of an app, in milliseconds. */
export interface Timeouts {
  /** Milliseconds for the headers of a request to arrive. Default 15,000. */
  readonly headers?: number
  /** Milliseconds for the whole request to arrive. Default 30,000. */
  readonly request?: number
  /**
   * Milliseconds for middleware, handler and callbacks. After that the response is 503 and the transaction is rolled back after it; if it is
   * committed already, the result is sent and the callbacks continue after it. Default 30,000.
   */
  readonly handler?: number
  /**
   * Milliseconds in which a client must read some more of a response that waits to be sent; the connection is closed otherwise. Default
   * 30,000. A client that reads slowly, or a stream that has nothing to send, is not limited.
   */
  readonly write?: number
  /**
   * Milliseconds that an idle connection is kept open. Default 65,000, more than the 60,000 of most load balancers. The next request must be
   * complete up to its headers within this time and `headers` together.
   */
  readonly keepAlive?: number
  /** Milliseconds that close() waits for running requests, for other work in the databases, and for disposers of the app. Default 10,000. */
  readonly drain?: number
  /**
   * Milliseconds after SIGTERM or SIGINT in which the app still accepts connections and serves, while `/readyz` is 503 and each response closes its
   * connection: the time that balancers need to send no more requests. Default 0.
   */
  readonly shutdownDelay?: number
}

/** The timeouts that {@link Timeouts} documents. */
export const DEFAULT_TIMEOUTS: Required<Timeouts> = {
  headers: 15_000,
  request: 30_000,
  handler: 30_000,
  write: 30_000,
  keepAlive: 65_000,
  drain: 10_000,
  shutdownDelay: 0,
}

/** The value of `createApp({ cursorSecret })`. */
export const cursorSecret = token<string | undefined>('cursorSecret')

const timeout = milliseconds('30_000')
const timeoutOrNone = milliseconds('30_000', 0)

const TIMEOUTS: OptionChecks<Timeouts> = {
  headers: timeout,
  request: timeout,
  handler: timeout,
  write: timeout,
  keepAlive: timeout,
  drain: timeoutOrNone,
  shutdownDelay: timeoutOrNone,
}

const ERRORS: OptionChecks<ErrorSettings> = {
  mappings: list('mapError(OutOfStock, 409)', fitting(isErrorMapping, 'mapError(OutOfStock, 409)')),
  format: fitting(isErrorFormat, 'errorFormat(ErrorBody, (problem) => body)'),
  translate: callback('(text, request, issue) => text'),
}

const OPTIONS: OptionChecks<AppOptions> = {
  controllers: classes('HeroController'),
  prefix: requirePrefix,
  models: classes('Hero'),
  lifespan: requireLifespans,
  providers: list('provide(Clock, { value: clock })', requireProvision),
  jobs: classes('MailJobs'),
  relays: list(`forward({ name: 'nats', events: [HeroSaved] }, publish)`, requireRelay),
  work: unchecked, // with `jobs`
  middleware: list('helmet()', compileMiddleware),
  cursorSecret: both(text('a random string'), refuseShortSecret),
  docs: flag,
  health: unchecked, // with `docs`
  logger: requireLogger,
  log: checkLogOptions,
  queryBudget: checkBudget,
  unknownFields: requireRule,
  bodyLimit: integer('bytes, as in 1024 * 1024', 1, Number.MAX_SAFE_INTEGER),
  maxConnections: integer('connections, as in 10_000', 1, Number.MAX_SAFE_INTEGER),
  timeouts: options(TIMEOUTS),
  errors: options(ERRORS),
  info: unchecked,
  servers: list(`{ url: 'https://api.example.com' }`),
  tags: list(`{ name: 'Heroes' }`, fitting(isRecord, `an object, as in { name: 'Heroes' }`)),
  externalDocs: unchecked,
  extensions: unchecked,
}

/** @throws BootError for a wrong option, with its place and what to write instead. */
export function checkAppOptions(options: AppOptions): void {
  checkOptions('createApp()', options, OPTIONS)
  if (options.controllers === undefined)
    throw new BootError(`createApp(): controllers is missing. Write controllers: [HeroController].`)
  checkHealthOptions(options.health, options.docs !== false)
  refuseDuplicateControllers(options.controllers)
  refuseSecondProvision(options.providers ?? [])
  refuseModelsWithoutLifespan(options)
}

function requirePrefix(prefix: unknown, where: string): void {
  if (typeof prefix !== 'string') throw new BootError(`${where} is ${shown(prefix)}. Write a path, such as '/api'.`)
  if (parsePath(prefix, where).some(({ kind }) => kind !== 'fixed'))
    throw new BootError(`${where} is '${prefix}', which has a variable. Write variables into the paths of controllers.`)
}

function refuseDuplicateControllers(controllers: readonly Constructor[]): void {
  for (const [index, type] of controllers.entries()) {
    const first = controllers.indexOf(type)
    if (first < index)
      throw new BootError(
        `createApp(): controllers[${index}] and controllers[${first}] are both ${type.name}. Remove one of them.`,
      )
  }
}

function requireProvision(entry: unknown, where: string): void {
  if (isProvision(entry)) return
  if (entry === undefined) throw new BootError(`${where} is undefined. ${NOT_LOADED}`)
  const advice = isConstructor(entry)
    ? `Put @Injectable() on it and remove it here, or write provide(${entry.name}, { class: ${entry.name} })`
    : `Write provide(Clock, { value: ... }), or with class, factory or managed instead of value`
  throw new BootError(`${where} is ${shown(entry)}. ${advice}.`)
}

function refuseSecondProvision(providers: readonly Provision[]): void {
  for (const [index, { token: provided }] of providers.entries()) {
    const first = providers.findIndex((other) => other.token === provided)
    if (first < index)
      throw new BootError(
        `createApp(): providers[${index}] and providers[${first}] both provide ${tokenName(provided)}. Remove one of them.`,
      )
  }
}

function refuseModelsWithoutLifespan({ models = [], lifespan }: AppOptions): void {
  if (models.length > 0 && [lifespan ?? []].flat().length === 0)
    throw new BootError(
      'createApp(): models without lifespan have no database. Write lifespan, which reads the environment, or newLifespan(url).',
    )
}

function requireLifespans(lifespan: unknown, where: string): void {
  for (const [index, one] of [lifespan].flat().entries()) {
    if (isLifespan(one)) continue
    const place = Array.isArray(lifespan) ? `${where}[${index}]` : where
    // A URL is not displayed: it may contain a password.
    const what = typeof one === 'string' ? 'a string' : shown(one)
    throw new BootError(`${place} is ${what}. Write lifespan, which reads the environment, or newLifespan(url).`)
  }
}

function isLifespan(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'start' in value && typeof value.start === 'function'
}

function requireLogger(logger: unknown, where: string): void {
  if (logger === false) return
  const methods = ['info', 'warn', 'error'] as const
  const given: object = typeof logger === 'object' && logger !== null ? logger : {}
  const missing = methods.filter((name) => typeof Reflect.get(given, name) !== 'function')
  if (missing.length > 0)
    throw new BootError(
      `${where} is ${shown(logger)}, without ${missing.map((name) => `${name}()`).join(', ')}. Write logger: console, or false for no log.`,
    )
}
