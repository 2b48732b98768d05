import { BootError } from '../core/boot-error.js'
import {
  LONGEST,
  NOT_LOADED,
  type OptionNames,
  refuseOtherThanList,
  refuseOtherThanWhole,
  refuseOtherType,
  refuseUnknownOptions,
  shown,
} from '../core/options.js'
import { isProvision, type Provision } from '../di/provider.js'
import { type Constructor, isConstructor, token } from '../di/token.js'
import type { Lifespan } from './lifespan.js'
import type { Logger } from './server/logger.js'
import { compileMiddleware, type Middleware, type ScopedMiddleware } from './server/middleware.js'
import type { ApiDescription } from './openapi/document.js'

export interface AppOptions extends ApiDescription {
  readonly controllers: readonly Constructor[]
  /** The models of the database: of the first lifespan, when there are several. */
  readonly models?: readonly Constructor[]
  /** The database, or several: `lifespan`, or what `newLifespan(...)` returns. */
  readonly lifespan?: Lifespan | readonly Lifespan[]
  /** Values, classes and factories for tokens; they also replace `@Injectable()` classes. */
  readonly providers?: readonly Provision[]
  /** Connect-style middleware, run in order before the routes; `{ path: '/admin', use: guard }` only for that path and those below it. */
  readonly middleware?: readonly (Middleware | ScopedMiddleware)[]
  /**
   * Signs the cursors of pages: at least 16 characters, the same in all processes. Default: the environment variable `toolkit_cursor_secret`,
   * else a random key of this process, with a warning at the start.
   */
  readonly cursorSecret?: string
  /** Whether `/docs` and `/openapi.json` are served. Default true. */
  readonly docs?: boolean
  /** `false` for silence. Default `console`. */
  readonly logger?: Logger | false
  /** The largest body in bytes. Default 1 MiB. */
  readonly bodyLimit?: number
  /**
   * The most connections that are open at a time; further ones are closed without an answer. No limit by default: what the memory and the
   * files of a process allow differs, and a balancer before it may keep many open.
   */
  readonly maxConnections?: number
  readonly timeouts?: Timeouts
}

export interface Timeouts {
  /** Milliseconds for the request's headers to arrive. Default 15,000. */
  readonly headers?: number
  /** Milliseconds for the whole request to arrive. Default 30,000. */
  readonly request?: number
  /** Milliseconds for a handler to answer, after which it is rolled back and answered with 503. Default 30,000. */
  readonly handler?: number
  /**
   * Milliseconds for a client to take any more of an answer that waits to be sent, after which the connection ends. Default 30,000. A client
   * that reads slowly, and a stream that has nothing to send, may take as long as they like.
   */
  readonly write?: number
  /** Milliseconds that an idle connection is kept. Default 65,000, more than the usual balancer's 60,000. */
  readonly keepAlive?: number
  /** Milliseconds that close() waits for running requests. Default 10,000. */
  readonly drain?: number
}

/** The value of `createApp({ cursorSecret })`. */
export const cursorSecret = token<string | undefined>('cursorSecret')

const OPTIONS: OptionNames<AppOptions> = {
  controllers: true,
  models: true,
  lifespan: true,
  providers: true,
  middleware: true,
  cursorSecret: true,
  docs: true,
  logger: true,
  bodyLimit: true,
  maxConnections: true,
  timeouts: true,
  info: true,
  servers: true,
  tags: true,
  externalDocs: true,
  extensions: true,
}

/** @throws BootError for whatever in the options is not what it should be, saying where it is and what to write. */
export function checkAppOptions(options: AppOptions): void {
  refuseUnknownOptions('createApp()', options, OPTIONS)
  if (options.controllers === undefined)
    throw new BootError(`createApp(): controllers is missing. Write controllers: [HeroController].`)
  each('controllers', options.controllers, 'HeroController', refuseOtherThanClass)
  refuseDoubledControllers(options.controllers)
  each('models', options.models, 'Hero', refuseOtherThanClass)
  each('providers', options.providers, 'provide(Clock, { value: clock })', refuseOtherThanProvision)
  each('middleware', options.middleware, 'helmet()', compileMiddleware)
  refuseOtherThanLifespans(options.lifespan)
  refuseOtherThanLogger(options.logger)
  refuseOtherType('createApp(): cursorSecret', options.cursorSecret, 'string', 'a text that nobody can guess')
  refuseOtherType('createApp(): docs', options.docs, 'boolean', 'true or false')
  refuseOtherThanWhole(
    options.bodyLimit,
    'createApp(): bodyLimit',
    'bytes, as in 1024 * 1024',
    1,
    Number.MAX_SAFE_INTEGER,
  )
  const most = Number.MAX_SAFE_INTEGER
  refuseOtherThanWhole(options.maxConnections, 'createApp(): maxConnections', 'connections, as in 10_000', 1, most)
  checkTimeouts(options.timeouts)
}

function each(
  name: string,
  list: unknown,
  example: string,
  check: (entry: unknown, where: string, example: string) => void,
): void {
  refuseOtherThanList(list, `createApp(): ${name}`, example)
  // entries() knows of a list's holes, which forEach() skips.
  for (const [index, entry] of ((list ?? []) as readonly unknown[]).entries())
    check(entry, `createApp(): ${name}[${index}]`, example)
}

function refuseDoubledControllers(controllers: readonly Constructor[]): void {
  for (const [index, type] of controllers.entries()) {
    const first = controllers.indexOf(type)
    if (first < index)
      throw new BootError(
        `createApp(): controllers[${index}] is ${type.name}, which controllers[${first}] is already. Remove one of them.`,
      )
  }
}

function refuseOtherThanClass(entry: unknown, where: string, example: string): void {
  if (isConstructor(entry)) return
  if (entry === undefined) throw new BootError(`${where} is undefined. ${NOT_LOADED}`)
  throw new BootError(`${where} is ${shown(entry)}. Write the class itself, as in [${example}].`)
}

function refuseOtherThanProvision(entry: unknown, where: string): void {
  if (isProvision(entry)) return
  if (entry === undefined) throw new BootError(`${where} is undefined. ${NOT_LOADED}`)
  const cure = isConstructor(entry)
    ? `Mark it @Injectable() and leave it out here, or write provide(${entry.name}, { class: ${entry.name} })`
    : `Write provide(Clock, { value: ... }), or with class, factory or managed in place of value`
  throw new BootError(`${where} is ${shown(entry)}. ${cure}.`)
}

function refuseOtherThanLifespans(lifespan: unknown): void {
  if (lifespan === undefined) return
  for (const [index, one] of [lifespan].flat().entries()) {
    if (isLifespan(one)) continue
    const where = Array.isArray(lifespan) ? `lifespan[${index}]` : 'lifespan'
    // A URL is not shown: it may hold a password.
    const what = typeof one === 'string' ? 'a text' : shown(one)
    throw new BootError(
      `createApp(): ${where} is ${what}. Write lifespan, which reads the environment, or newLifespan(url).`,
    )
  }
}

function isLifespan(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'start' in value && typeof value.start === 'function'
}

function refuseOtherThanLogger(logger: unknown): void {
  if (logger === undefined || logger === false) return
  const methods = ['info', 'warn', 'error'] as const
  const given = (typeof logger === 'object' && logger !== null ? logger : {}) as Partial<Logger>
  const missing = methods.filter((name) => typeof given[name] !== 'function')
  if (missing.length > 0)
    throw new BootError(
      `createApp(): logger is ${shown(logger)}, without ${missing.map((name) => `${name}()`).join(', ')}. Write logger: console, or false for silence.`,
    )
}

const TIMEOUTS: OptionNames<Timeouts> = {
  headers: true,
  request: true,
  handler: true,
  write: true,
  keepAlive: true,
  drain: true,
}

function checkTimeouts(timeouts: unknown): void {
  if (timeouts === undefined) return
  refuseUnknownOptions('createApp(): timeouts', timeouts, TIMEOUTS)
  for (const [name, value] of Object.entries(timeouts as Timeouts)) {
    // Nothing need be waited for at the end.
    const least = name === 'drain' ? 0 : 1
    refuseOtherThanWhole(value, `createApp(): timeouts.${name}`, 'milliseconds, as in 30_000', least, LONGEST)
  }
}
