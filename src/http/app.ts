import type { IncomingMessage, ServerResponse } from 'node:http'
import type { DispatchFunc, InjectOptions, Response as InjectedResponse } from 'light-my-request'
import inject from 'light-my-request'
import type { OpenAPIObject } from 'openapi3-ts/oas31'
import { Container } from '../di/container.js'
import { BootError } from '../core/boot-error.js'
import type { ErrorStatus } from '../core/error-status.js'
import { Planner } from '../di/plan.js'
import type { Provision } from '../di/provider.js'
import { SchemaWriter } from '../schema/json-schema/writer.js'
import { ValidatorCompiler } from '../schema/input/validate.js'
import { type AppOptions, checkAppOptions } from './app-options.js'
import { docs } from './openapi/docs-page.js'
import type { Input } from './input/parameters.js'
import type { Lifespan } from './lifespan.js'
import { Listener } from './server/request-listener.js'
import { appLog, Log, SILENT } from './server/logger.js'
import { compileMiddleware } from './server/middleware.js'
import { appObserver } from './app-observer.js'
import { openApiDocument } from './openapi/document.js'
import { ReplyHeaders } from './output/response-headers.js'
import { Request } from './request.js'
import { planRoutes, type Route, type ServedRoute, serveRoute } from './routing/route.js'
import { Router } from './routing/router.js'
import { cursorSecret } from './secret.js'
import { classesInResponses } from './routing/response-classes.js'
import { type Address, openServer, type OpenServer } from './server/server.js'
import { logUnhandledRefusals } from './server/unhandled.js'
import { onTermination } from './server/signals.js'

export type { AppOptions } from './app-options.js'
export type { Address } from './server/server.js'

/** The request itself, and its signal, can be asked for by any parameter. */
const GIVEN: readonly Provision[] = [
  { token: Request, provider: { kind: 'given' } },
  { token: ReplyHeaders, provider: { kind: 'given' } },
  { token: AbortSignal, provider: { kind: 'given' } },
]

/** An app: routes, their values, their databases. Made by {@link createApp}. */
export class App {
  readonly #options: AppOptions
  readonly #lifespans: readonly Lifespan[]
  readonly #log: Log
  readonly #routes: readonly Route[]
  readonly #writer = new SchemaWriter()
  readonly #inputs = new SchemaWriter({ forValidation: true })
  readonly #container: Container
  readonly #listener: Listener
  readonly #servers = new Set<OpenServer>()
  #starting: Promise<void> | undefined
  #closing: Promise<void> | undefined
  #endRejections: () => void = () => {}
  #forgetSignals: (() => void) | undefined

  constructor(options: AppOptions) {
    checkAppOptions(options)
    this.#options = options
    this.#lifespans = [options.lifespan ?? []].flat()
    this.#log = new Log(options.logger === false ? SILENT : (options.logger ?? console))
    this.#lifespans[0]?.adopt(options.models ?? [])
    const secret = { token: cursorSecret, provider: { kind: 'value', value: options.cursorSecret } } as const
    const log = { token: appLog, provider: { kind: 'value', value: this.#log } } as const
    const planner = new Planner<Input>([
      ...GIVEN,
      secret,
      log,
      ...provisionsOf(this.#lifespans),
      ...(options.providers ?? []),
    ])
    this.#routes = options.controllers.flatMap((controller) => planRoutes(controller, planner, this.#inputs))
    const document = this.openapi()
    this.#container = new Container(planner.shared)
    this.#listener = new Listener({
      serving: { router: this.#newRouter(), container: this.#container },
      docs: options.docs === false ? () => undefined : docs(document, this.#routes),
      middleware: (options.middleware ?? []).map((entry, index) =>
        compileMiddleware(entry, `createApp(): middleware[${index}]`),
      ),
      handlerTimeout: options.timeouts?.handler ?? 30_000,
      log: this.#log,
      findErrorStatus: (error) => this.#findErrorStatus(error),
      ready: () => this.start(),
    })
    this.handler = this.#listener.handler
    appObserver()?.created(this)
  }

  #refuseHomeless(): void {
    const shown = classesInResponses(this.#routes)
    const [first] = this.#lifespans.flatMap((lifespan) => lifespan.modelsWithoutDatabase?.([...shown.keys()]) ?? [])
    if (!first) return
    throw new BootError(
      `${first.name}, which ${shown.get(first)} answers with, is a model of no database. Name it: createApp({ models: [${first.name}] }).`,
    )
  }

  #newRouter(): Router<ServedRoute> {
    const router = new Router<ServedRoute>()
    const validators = new ValidatorCompiler(this.#inputs.components)
    for (const route of this.#routes) router.add(serveRoute(route, validators, this.#lifespans, this.#bodyLimit))
    return router
  }

  get #bodyLimit(): number {
    return this.#options.bodyLimit ?? 1024 * 1024
  }

  #findErrorStatus(error: unknown): ErrorStatus | undefined {
    for (const lifespan of this.#lifespans) {
      const status = lifespan.findErrorStatus(error)
      if (status) return status
    }
    return undefined
  }

  /** The OpenAPI 3.1 document. Needs no database. */
  openapi(): OpenAPIObject {
    return openApiDocument(this.#routes, this.#writer, this.#options)
  }

  /** Answers a request of another server: mount it where a `(request, response)` listener fits. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void

  /**
   * Opens the databases and builds what lives as long as the app. `listen`, `inject` and `handler` do it by themselves.
   *
   * @throws what a lifespan throws that cannot start; everything opened so far is closed again. An app that was closed stays closed.
   */
  start(): Promise<void> {
    if (this.#closing) return Promise.reject(new Error('This app was closed. Make a new one: createApp({ ... }).'))
    return (this.#starting ??= this.#start())
  }

  async #start(): Promise<void> {
    const started: Lifespan[] = []
    try {
      for (const lifespan of this.#lifespans) {
        await lifespan.start(
          (line) => this.#log.info(line),
          (what, error) => this.#log.error(`${what}:`, error),
        )
        started.push(lifespan)
      }
      this.#refuseHomeless()
      await this.#container.start()
      this.#endRejections = logUnhandledRefusals(this.#log)
    } catch (error) {
      this.#starting = undefined
      for (const lifespan of started.toReversed())
        await lifespan.stop().catch((failure: unknown) => this.#log.error('After the failed start:', failure))
      throw error
    }
  }

  /**
   * Starts, then listens. SIGTERM and SIGINT close the app and end the process.
   *
   * @param port 0 for any free one.
   * @param host `127.0.0.1` unless said otherwise; `0.0.0.0` to be reached from other machines.
   * @throws when the port is taken, or what {@link start} throws. The app is closed then.
   */
  async listen(port = 8000, host = '127.0.0.1'): Promise<Address> {
    const watching = appObserver()
    if (watching) return new Promise(() => watching.listens(this)) // its document is all that is wanted
    await this.start()
    const { address } = await this.#open(port, host).catch(async (error: unknown) => {
      await this.close()
      throw error
    })
    this.#forgetSignals ??= onTermination((signal) => this.#terminate(signal))
    const where = this.#options.docs === false ? '' : `, documentation at ${address.url}/docs`
    this.#log.info(`Listening on ${address.url}${where}`)
    return address
  }

  async #open(port: number, host: string): Promise<OpenServer> {
    const { headers = 15_000, request = 30_000, write = 30_000, keepAlive = 65_000 } = this.#options.timeouts ?? {}
    const { maxConnections } = this.#options
    const connections = maxConnections === undefined ? {} : { connections: maxConnections }
    const limits = { headers, request, write, keepAlive, body: this.#bodyLimit, ...connections }
    const server = await openServer(this.handler, limits, { port, host, warn: (line) => this.#log.warn(line) })
    this.#servers.add(server)
    if (!this.#closing) return server
    await server.close(this.#closing)
    throw new Error(`This app was closed before it listened on ${server.address.url}.`)
  }

  async #terminate(signal: string): Promise<void> {
    this.#log.info(`${signal}: finishing what runs`)
    await this.close().catch((error: unknown) => {
      this.#log.error('While closing:', error)
      throw error
    })
  }

  /**
   * Stops: new requests are refused with 503, running ones are finished, then the databases are closed.
   * Resolves when all is closed; requests that outlast `timeouts.drain` are rolled back and answered with 503.
   *
   * @throws what could not be closed, after everything else was.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close())
  }

  async #close(): Promise<void> {
    this.#listener.refuse()
    const started = await this.#starting?.then(
      () => true,
      () => false,
    )
    const drained = this.#listener.drain(this.#options.timeouts?.drain ?? 10_000)
    await Promise.all([drained, ...[...this.#servers].map((server) => server.close(drained))])
    this.#forgetSignals?.()
    if (started) await this.#stop()
  }

  async #stop(): Promise<void> {
    const failures: unknown[] = []
    for (const part of [this.#container, ...this.#lifespans.toReversed()])
      await part.stop().catch((error: unknown) => failures.push(error))
    this.#endRejections()
    if (failures.length > 0) throw new AggregateError(failures, 'Not everything could be closed.')
  }

  /**
   * Sends a request without a socket, for tests.
   *
   * @throws what {@link start} throws.
   * @example
   * const { statusCode, body } = await app.inject({ url: '/heros?limit=1' })
   */
  async inject(options: InjectOptions | string): Promise<InjectedResponse> {
    if (!this.#closing) await this.start()
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
