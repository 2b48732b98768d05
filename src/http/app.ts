import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { DispatchFunc, InjectOptions, Response as InjectedResponse } from 'light-my-request'
import inject from 'light-my-request'
import type { OpenAPIObject } from 'openapi3-ts/oas31'
import { Container } from '../di/container.js'
import { Planner } from '../di/plan.js'
import type { Provision } from '../di/provider.js'
import type { Constructor } from '../di/token.js'
import { SchemaWriter } from '../schema/json-schema.js'
import { ValidatorCompiler } from '../schema/validate.js'
import { type Docs, docs } from './docs.js'
import { ServiceUnavailable } from './errors.js'
import { ClientGone, handle, HandlerTimeout, type Serving } from './handle.js'
import type { Input } from './inputs.js'
import type { Lifespan } from './lifespan.js'
import { describeError, type Logger, SILENT } from './logger.js'
import { type Middleware, runMiddleware } from './middleware.js'
import { type Info, openApiDocument } from './openapi.js'
import { type Explanation, toProblemReply } from './problem.js'
import { type Reply, writeReply } from './reply.js'
import { Request } from './request.js'
import { planRoutes, type Route, type ServedRoute, serveRoute } from './route.js'
import { Router } from './router.js'
import { onTermination } from './termination.js'

/** The request itself, and its signal, can be asked for by any parameter. */
const GIVEN: readonly Provision[] = [
  { token: Request, provider: { kind: 'given' } },
  { token: AbortSignal, provider: { kind: 'given' } },
]

export interface AppOptions {
  readonly controllers: readonly Constructor[]
  /** The models of the database: of the first lifespan, when there are several. */
  readonly models?: readonly Constructor[]
  /** The database, or several: `lifespan`, or what `newLifespan(...)` returns. */
  readonly lifespan?: Lifespan | readonly Lifespan[]
  /** Values, classes and factories for tokens; they also replace `@Injectable()` classes. */
  readonly providers?: readonly Provision[]
  /** Connect-style middleware, run in order before the routes. */
  readonly middleware?: readonly Middleware[]
  /** Title, version and description of the API. */
  readonly info?: Info
  /** Whether `/docs` and `/openapi.json` are served. Default true. */
  readonly docs?: boolean
  /** `false` for silence. Default `console`. */
  readonly logger?: Logger | false
  /** The largest body in bytes. Default 1 MiB. */
  readonly bodyLimit?: number
  readonly timeouts?: {
    /** Milliseconds for the request's headers to arrive. Default 15,000. */
    readonly headers?: number
    /** Milliseconds for the whole request to arrive. Default 30,000. */
    readonly request?: number
    /** Milliseconds for a handler to answer, after which it is rolled back and answered with 503. Default 30,000. */
    readonly handler?: number
    /** Milliseconds that an idle connection is kept. Default 65,000, more than the usual balancer's 60,000. */
    readonly keepAlive?: number
    /** Milliseconds that close() waits for running requests. Default 10,000. */
    readonly drain?: number
  }
}

/** Where an app listens. */
export interface Address {
  readonly host: string
  readonly port: number
  readonly url: string
}

type State = 'new' | 'started' | 'closing' | 'closed'

/** An app: routes, their values, their databases. Made by {@link createApp}. */
export class App {
  readonly #options: AppOptions
  readonly #lifespans: readonly Lifespan[]
  readonly #logger: Logger
  readonly #routes: readonly Route[]
  readonly #writer = new SchemaWriter()
  readonly #serving: Serving
  readonly #docs: Docs
  readonly #running = new Set<Promise<void>>()
  #state: State = 'new'
  #starting: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #server: Server | undefined
  #forgetSignals: (() => void) | undefined

  constructor(options: AppOptions) {
    this.#options = options
    this.#lifespans = [options.lifespan ?? []].flat()
    this.#logger = options.logger === false ? SILENT : (options.logger ?? console)
    this.#lifespans[0]?.adopt(options.models ?? [])
    const provisions = [...GIVEN, ...provisionsOf(this.#lifespans), ...(options.providers ?? [])]
    const planner = new Planner<Input>(provisions)
    this.#routes = options.controllers.flatMap((controller) => planRoutes(controller, planner, this.#writer))
    const router = new Router<ServedRoute>()
    const document = this.openapi() // writes every component, before validators are compiled from them
    const validators = new ValidatorCompiler(this.#writer.components)
    for (const route of this.#routes)
      router.add(serveRoute(route, validators, this.#lifespans, options.bodyLimit ?? 1024 * 1024))
    this.#serving = {
      router,
      container: new Container(planner.shared),
      report: (error, request) => this.#report(error, request),
    }
    this.#docs = options.docs === false ? () => undefined : docs(() => document)
  }

  /** The OpenAPI 3.1 document. Needs no database. */
  openapi(): OpenAPIObject {
    return openApiDocument(this.#routes, this.#writer, this.#options.info ?? {})
  }

  /**
   * Opens the databases and builds what lives as long as the app. `listen`, `inject` and `handler` do it by themselves.
   *
   * @throws what a lifespan throws that cannot start; everything opened so far is closed again.
   */
  start(): Promise<void> {
    return (this.#starting ??= this.#start())
  }

  async #start(): Promise<void> {
    const started: Lifespan[] = []
    try {
      for (const lifespan of this.#lifespans) {
        await lifespan.start((line) => this.#logger.info(line))
        started.push(lifespan)
      }
      await this.#serving.container.start()
      this.#state = 'started'
    } catch (error) {
      this.#starting = undefined
      for (const lifespan of started.toReversed()) await lifespan.stop()
      throw error
    }
  }

  /**
   * Starts, then listens. SIGTERM and SIGINT close the app and end the process.
   *
   * @param port 0 for any free one.
   * @param host `127.0.0.1` unless said otherwise; `0.0.0.0` to be reached from other machines.
   * @throws when the port is taken, or what {@link start} throws.
   */
  async listen(port = 8000, host = '127.0.0.1'): Promise<Address> {
    await this.start()
    const server = this.#createServer()
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(port, host, resolve)
    }).catch(async (error: unknown) => {
      await this.close()
      throw error
    })
    this.#server = server
    this.#forgetSignals = onTermination((signal) => {
      this.#logger.info(`${signal}: finishing what runs`)
      return this.close()
    })
    const address = addressOf(server, host)
    this.#logger.info(
      `Listening on ${address.url}${this.#options.docs === false ? '' : `, documentation at ${address.url}/docs`}`,
    )
    return address
  }

  #createServer(): Server {
    const { headers = 15_000, request = 30_000, keepAlive = 65_000 } = this.#options.timeouts ?? {}
    const options = { headersTimeout: Math.min(headers, request), requestTimeout: request, keepAliveTimeout: keepAlive }
    return createServer(options, this.handler)
  }

  /** Answers a request of another server: mount it where a `(request, response)` listener fits. */
  readonly handler = (request: IncomingMessage, response: ServerResponse): void => {
    const answering = this.#answer(request, response).finally(() => this.#running.delete(answering))
    this.#running.add(answering)
  }

  async #answer(raw: IncomingMessage, response: ServerResponse): Promise<void> {
    const abort = new AbortController()
    response.once('close', () => response.writableFinished || abort.abort(new ClientGone('The client went away.')))
    const request = new Request(raw, abort.signal)
    const reply = await this.#reply(request, raw, response, abort)
    if (!reply) return
    if (this.#state !== 'started') response.setHeader('connection', 'close')
    await writeReply(response, reply, request.method)
  }

  /** Undefined when middleware answered. */
  async #reply(
    request: Request,
    raw: IncomingMessage,
    response: ServerResponse,
    abort: AbortController,
  ): Promise<Reply | undefined> {
    const limit = this.#options.timeouts?.handler ?? 30_000
    const timer = setTimeout(() => abort.abort(new HandlerTimeout(limit)), limit)
    try {
      await this.#ready()
      if (!(await runMiddleware(this.#options.middleware ?? [], raw, response))) return undefined
      return this.#docs(request.method, request.path) ?? (await handle(this.#serving, request))
    } catch (error) {
      return this.#problem(error, request)
    } finally {
      clearTimeout(timer)
    }
  }

  async #ready(): Promise<void> {
    if (this.#state === 'closing' || this.#state === 'closed') {
      throw new ServiceUnavailable('The server is shutting down.', { headers: { 'retry-after': '1' } })
    }
    if (this.#state === 'new') await this.start()
  }

  #problem(error: unknown, request: Request): Reply {
    const { reply, serverFault } = toProblemReply(error, request.id, (thrown) => this.#explain(thrown))
    if (serverFault && !(error instanceof ClientGone)) this.#report(error, request)
    return reply
  }

  #explain(error: unknown): Explanation | undefined {
    for (const lifespan of this.#lifespans) {
      const explanation = lifespan.explain(error)
      if (explanation) return explanation
    }
    return undefined
  }

  #report(error: unknown, request: Request): void {
    this.#logger.error(`${request.method} ${request.path} [${request.id}] ${describeError(error)}`)
  }

  /**
   * Stops: new requests are refused with 503, running ones are finished, then the databases are closed.
   * Resolves when all is closed; requests that outlast `timeouts.drain` are cut off.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    await this.#starting?.catch(() => {})
    const wasStarted = this.#state === 'started'
    this.#state = 'closing'
    this.#forgetSignals?.()
    const closed = this.#server && new Promise((resolve) => this.#server?.close(resolve))
    await this.#drain()
    this.#server?.closeAllConnections()
    await closed
    if (wasStarted) await this.#stop()
    this.#state = 'closed'
  }

  async #drain(): Promise<void> {
    const limit = this.#options.timeouts?.drain ?? 10_000
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<'late'>((resolve) => (timer = setTimeout(resolve, limit, 'late')))
    while (this.#running.size > 0) {
      if ((await Promise.race([Promise.allSettled(this.#running), late])) !== 'late') continue
      this.#logger.warn(`${this.#running.size} request(s) still ran after ${limit} ms and were cut off`)
      break
    }
    clearTimeout(timer)
  }

  async #stop(): Promise<void> {
    await this.#serving.container.stop().catch((error: unknown) => this.#logger.error(describeError(error)))
    for (const lifespan of this.#lifespans.toReversed()) await lifespan.stop()
  }

  /**
   * Sends a request without a socket, for tests.
   *
   * @example
   * const { statusCode, body } = await app.inject({ url: '/heros?limit=1' })
   */
  async inject(options: InjectOptions | string): Promise<InjectedResponse> {
    await this.start()
    return inject(this.handler as DispatchFunc, options)
  }
}

/**
 * Makes an app of its controllers. All that can be checked without a database is checked here.
 *
 * @throws BootError for every mistake of the program: routes, parameters, injection, schemas.
 * @example
 * export const app = createApp({ controllers: [HeroController], models: [Hero], lifespan })
 * await app.listen(8000)
 */
export function createApp(options: AppOptions): App {
  return new App(options)
}

// Each database answers to the common Session token; the last provision wins, and that token means the first database.
function provisionsOf(lifespans: readonly Lifespan[]): readonly Provision[] {
  return lifespans.toReversed().flatMap((lifespan) => lifespan.provisions)
}

function addressOf(server: Server, host: string): Address {
  const { port } = server.address() as AddressInfo // a server that listens on a port has one
  const shown = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host
  return { host, port, url: `http://${shown}:${port}` }
}
