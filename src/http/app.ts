import cluster from 'node:cluster'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { DispatchFunc, InjectOptions, Response as InjectedResponse } from 'light-my-request'
import type { OpenAPIObject } from 'openapi3-ts/oas31'
import { BootError } from '../core/boot-error.js'
import { loadLater } from '../core/memo.js'
import { refuseSecondCopies } from '../core/package-copies.js'
import type { Limit } from '../core/promises.js'
import { appObserver, type AppParts, type ObservedJobs } from './app-observer.js'
import { type AppOptions, checkAppOptions, DEFAULT_TIMEOUTS } from './app-options.js'
import type { Background, Work } from './background.js'
import { buildApp, type BuiltApp, DEFAULT_BODY_LIMIT } from './build-app.js'
import { type Lifespan, lifespansOf, startLifespan, stopLifespan } from './lifespan.js'
import type { ReportExcess } from './observation/query-budget.js'
import { describeRoute } from './routing/route-description.js'
import { classesInRoutes } from './routing/route-classes.js'
import { Listener } from './server/request-listener.js'
import { type Address, openServer, type OpenServer, requireAddress } from './server/server.js'
import { onTermination } from './server/signals.js'
import { logUnhandledHttpErrors } from './server/unhandled-http-errors.js'

export type { AppOptions } from './app-options.js'
export type { Address } from './server/server.js'

/** Only tests inject requests. */
const lightMyRequest = loadLater<typeof import('light-my-request')>('light-my-request')

/** Milliseconds after a signal during which kept-alive connections stay open: their clients may be sending the next request. */
const TERMINATION_GRACE = 500

/** An app: it starts, listens and closes. Made by {@link createApp}. */
export class App {
  readonly #options: AppOptions
  readonly #built: BuiltApp
  readonly #listener: Listener
  readonly #servers = new Set<OpenServer>()
  #starting: Promise<void> | undefined
  #closing: Promise<void> | undefined
  /** Aborts a start that is in progress. */
  readonly #closes = new AbortController()
  #stopLoggingHttpErrors: () => void = () => {}
  #removeSignalHandlers: (() => void) | undefined
  /** Whether a signal ends the process. */
  #ends = false

  /** @param onExceeded @internal For tests: receives the requests that exceed their budget. */
  constructor(options: AppOptions, onExceeded?: ReportExcess) {
    checkAppOptions(options)
    refuseSecondCopies({ hasDatabase: options.lifespan !== undefined })
    const [firstLifespan] = lifespansOf(options)
    firstLifespan?.adopt(options.models ?? [])
    this.#options = options
    this.#built = buildApp(options, onExceeded)
    this.#listener = new Listener(this.#built, () => this.#starting ?? this.start())
    this.handler = this.#listener.handler
    appObserver()?.created(
      this,
      partsOf(this.#built, (queues) => this.#work(queues)),
    )
  }

  /** The OpenAPI 3.1 document. Needs no database. */
  openapi(): OpenAPIObject {
    return this.#built.openapi()
  }

  /** Answers a request of another server: pass it where a `(request, response)` listener is expected. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void

  /**
   * Opens the databases and builds what lives as long as the app. `listen`, `inject` and `handler` call it.
   *
   * @throws the error of a lifespan or a factory that fails; everything opened so far is closed again. An Error if the app is closed during the start.
   * A closed app cannot start again.
   */
  start(): Promise<void> {
    if (this.#closing) return Promise.reject(new Error('This app was closed. Make a new one: createApp({ ... }).'))
    return (this.#starting ??= this.#start())
  }

  async #start(): Promise<void> {
    const { lifespans, log, container, tokens, background, relays } = this.#built
    const limit: Limit = { signal: this.#closes.signal, grace: this.#drain }
    const started: Lifespan[] = []
    try {
      for (const lifespan of lifespans) {
        await startLifespan(lifespan, log, limit)
        started.push(lifespan)
      }
      refuseModelsWithoutDatabase(this.#built)
      tokens.start(lifespans, this.#options.cursorSecret, (line) => log.warn(line))
      await container.start(limit)
      await background?.start()
      await relays?.start()
      this.#stopLoggingHttpErrors = logUnhandledHttpErrors(log)
    } catch (error) {
      const failed = (failure: unknown) => log.error('After the failed start:', failure)
      await relays?.stop(0).catch(failed)
      await background?.stop(0).catch(failed)
      await container.stop(limit.grace).catch(failed)
      for (const lifespan of started.toReversed()) await stopLifespan(lifespan, limit.grace).catch(failed)
      this.#starting = undefined
      throw error
    }
  }

  /** Milliseconds that the close waits. */
  get #drain(): number {
    return this.#options.timeouts?.drain ?? DEFAULT_TIMEOUTS.drain
  }

  /**
   * Starts, then listens. SIGTERM and SIGINT close the app and end the process. Resolves to the address, with the port that was chosen for 0.
   *
   * @param port default 8000; 0 for any free port.
   * @param host default `127.0.0.1`; `0.0.0.0` accepts connections from other machines.
   * @throws when the port is taken, or what {@link start} throws: the app is closed then. BootError for an invalid port or host.
   * @example
   * const { url } = await app.listen(8000)
   */
  async listen(port = 8000, host = '127.0.0.1'): Promise<Address> {
    requireAddress(port, host)
    const observer = appObserver()
    if (observer) return new Promise(() => observer.listens(this)) // the command line only describes the app
    this.#onSignal((signal) => this.#terminate(signal))
    const address = await this.#unlessEnding(this.#startAndOpen(port, host))
    const where = this.#options.docs === false ? '' : `, documentation at ${address.url}/docs`
    this.#built.log.info(`Listening on ${address.url}${where}`)
    return address
  }

  async #startAndOpen(port: number, host: string): Promise<Address> {
    await this.start()
    const { address } = await this.#open(port, host).catch(async (error: unknown) => {
      await this.close().catch((failure: unknown) => this.#built.log.error('After the failed start:', failure))
      throw error
    })
    return address
  }

  /** Call it before the start: the first process of a container ignores signals that it does not handle. */
  #onSignal(close: (signal: string) => Promise<void>): void {
    this.#removeSignalHandlers ??= onTermination((signal) => {
      this.#ends = true
      return close(signal)
    })
  }

  /** The result of a start. After a signal it stays pending: nothing has failed, and the process ends when the app is closed. */
  async #unlessEnding<T>(starting: Promise<T>): Promise<T> {
    return starting.catch((error: unknown) => {
      if (this.#ends) return new Promise<never>(() => {})
      this.#ignoreSignals()
      throw error
    })
  }

  #ignoreSignals(): void {
    this.#removeSignalHandlers?.()
    this.#removeSignalHandlers = undefined
  }

  async #open(port: number, host: string): Promise<OpenServer> {
    const { timeouts, maxConnections, bodyLimit = DEFAULT_BODY_LIMIT } = this.#options
    const { headers, request, write, keepAlive } = { ...DEFAULT_TIMEOUTS, ...timeouts }
    const limits = { headers, request, write, keepAlive, body: bodyLimit, connections: maxConnections }
    const warn = (line: string) => this.#built.log.warn(line)
    const { bodies } = this.#built.errorRules
    // The error is logged.
    const disconnect = () => void this.#terminate('The primary process disconnects this worker').catch(() => {})
    const server = await openServer(this.#listener, limits, { port, host, warn, bodies, disconnect })
    this.#servers.add(server)
    if (!this.#closing) return server
    await server.stopListening(0)
    await server.close(
      this.#closing.catch(() => {}), // who called close() gets the error
      0,
    )
    throw new Error(`This app was closed before it listened on ${server.address.url}.`)
  }

  /** For the command line. */
  async #work(queues: Work | undefined): Promise<void> {
    const { background, relays, log } = this.#built
    if (this.#starting)
      throw new BootError('The app was started by its module. Only create it there, or call listen().')
    if (queues && !background) throw new BootError('The app has no jobs, and thus no queues: only its relays run.')
    const work = background?.workOn(queues)
    relays?.work()
    this.#onSignal((signal) => this.#endWork(signal))
    await this.#unlessEnding(this.start())
    log.info(`Working on ${describeWork(work, relays?.names)}`)
  }

  async #endWork(signal: string): Promise<void> {
    const { log } = this.#built
    if (!this.#closing) log.info(`${signal}: closing after the running jobs`)
    await this.close().catch((error: unknown) => {
      log.error('While closing:', error)
      throw error
    })
  }

  /** @internal For tests. */
  get background(): Background | undefined {
    return this.#built.background
  }

  /** @param reason a signal, or a sentence. */
  async #terminate(reason: string): Promise<void> {
    const { log } = this.#built
    if (!this.#closing) log.info(`${reason}: closing after the running requests`)
    await (this.#closing ??= this.#closeForOthers()).catch((error: unknown) => {
      log.error('While closing:', error)
      throw error
    })
  }

  /** Closes an app whose clients may use another process. */
  async #closeForOthers(): Promise<void> {
    const { shutdownDelay } = { ...DEFAULT_TIMEOUTS, ...this.#options.timeouts }
    if (this.#servers.size === 0) return this.#close(0)
    if (shutdownDelay === 0 && !cluster.isWorker) return this.#close(TERMINATION_GRACE)
    this.#built.health?.close()
    this.#listener.closeConnections()
    await wait(shutdownDelay)
    // Connections that have been accepted until now are served, too: no client gets a 503 because this process closes.
    await Promise.all([...this.#servers].map((server) => server.stopListening(TERMINATION_GRACE)))
    await wait(TERMINATION_GRACE)
    return this.#close(0)
  }

  /**
   * Stops: new requests are refused with 503, running ones are finished, then the databases are closed. Idle connections are closed at once;
   * on SIGTERM and SIGINT after half a second, in which the requests on them are answered, and after `timeouts.shutdownDelay`.
   * Resolves when all is closed; requests that run longer than `timeouts.drain` are rolled back and answered with 503. A start in progress is
   * aborted.
   *
   * @throws AggregateError of the failures to close, or to close in time, after everything else was closed.
   */
  close(): Promise<void> {
    return (this.#closing ??= this.#close(0))
  }

  async #close(grace: number): Promise<void> {
    this.#built.health?.close()
    const servers = [...this.#servers]
    const stopped = Promise.all(servers.map((server) => server.stopListening(grace)))
    // A refused client reconnects: it must find that nothing listens, and not wait for a server that stops listening.
    if (grace > 0) await stopped
    this.#listener.refuse()
    this.#closes.abort(new Error('This app was closed while it started.'))
    const started = await this.#starting?.then(
      () => true,
      () => false,
    )
    const drain = this.#drain
    const end = performance.now() + drain
    const drained = this.#listener.drain(drain)
    const { background, relays } = this.#built
    const working = [background?.stop(drain), relays?.stop(drain)]
    await stopped
    await Promise.all([drained, ...working, ...servers.map((server) => server.close(drained, grace))])
    this.#ignoreSignals()
    if (started) await this.#stop(Math.max(0, end - performance.now()))
    this.#listener.closed()
  }

  async #stop(wait: number): Promise<void> {
    const { container, lifespans } = this.#built
    const failures: unknown[] = []
    const failed = (error: unknown) => void failures.push(error)
    await container.stop(wait).catch(failed)
    for (const lifespan of lifespans.toReversed()) await stopLifespan(lifespan, wait).catch(failed)
    this.#stopLoggingHttpErrors()
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
    // light-my-request declares its own request and response, which imitate those of Node.
    return lightMyRequest().inject(this.handler as DispatchFunc, options)
  }
}

/**
 * Creates an app. Everything that can be checked without a database is checked here.
 *
 * @throws BootError for every mistake of the program: options, routes, parameters, injection, schemas.
 * @example
 * export const app = createApp({ controllers: [HeroController], models: [Hero], lifespan })
 * await app.listen(8000)
 */
export function createApp(options: AppOptions): App {
  return new App(options)
}

function partsOf(
  { routes, middleware, lifespans, background, relays }: BuiltApp,
  work: ObservedJobs['work'],
): AppParts {
  return {
    middleware: middleware.map(({ use }) => use),
    routes: () => routes.map((route) => describeRoute(route, lifespans)),
    databaseChecks: lifespans.flatMap((lifespan) => lifespan.check?.bind(lifespan) ?? []),
    lifespans,
    jobs: background && { ...background.operations, work },
    relays: relays && { hints: () => relays.hints(), work },
  }
}

/** `mail=5, default=10, relay nats` */
function describeWork(work: Work = {}, relays: readonly string[] = []): string {
  const queues = Object.entries(work).map(([queue, most]) => `${queue}=${most}`)
  return [...queues, ...relays.map((name) => `relay ${name}`)].join(', ')
}

// Known only once all databases are started: each then adopts its models.
function refuseModelsWithoutDatabase({ routes, lifespans }: BuiltApp): void {
  const classes = classesInRoutes(routes)
  const [first] = lifespans.flatMap((lifespan) => lifespan.modelsWithoutDatabase?.([...classes.keys()]) ?? [])
  if (!first) return
  throw new BootError(
    `${first.name}, which ${classes.get(first)}, is a model of no database. Add it: createApp({ models: [${first.name}] }).`,
  )
}
