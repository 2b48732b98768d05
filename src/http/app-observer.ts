import type { JobOperations, Work } from './background.js'
import type { DatabaseReport, Lifespan } from './lifespan.js'
import type { Middleware } from './routing/middleware.js'
import type { RouteDescription } from './routing/route-description.js'

/** An app, as far as the command line needs it. */
export interface Describable {
  openapi(): object
}

/** The parts of an app that the command line needs in addition to its OpenAPI document. */
export interface AppParts {
  routes(): readonly RouteDescription[]
  /** The middleware, in its order. */
  readonly middleware: readonly Middleware[]
  /** `Lifespan.check` of each database. */
  readonly databaseChecks: readonly (() => Promise<DatabaseReport>)[]
  /** Its databases, of which the first has the models of the app. */
  readonly lifespans: readonly Lifespan[]
  /** Undefined for an app without jobs. */
  readonly jobs: ObservedJobs | undefined
  /** Undefined for an app without relays. */
  readonly relays: ObservedRelays | undefined
}

export interface ObservedJobs extends JobOperations {
  /** Starts the app, which runs jobs instead of listening, until a signal ends the process. Resolves when it is started. */
  work(queues: Work | undefined): Promise<void>
}

export interface ObservedRelays {
  /** What `sequitur doctor` says of them, a sentence each. Creates no tables. */
  hints(): Promise<readonly string[]>
  /** The same as that of jobs, which it starts, too. */
  work(queues: Work | undefined): Promise<void>
}

/** Receives the apps of a process instead of having them listen: the command line, which describes them. */
export interface AppObserver {
  created(app: Describable, parts: AppParts): void
  listens(app: Describable): void
}

// Global, because the program may load another copy of this package than the one that the command line belongs to.
const KEY = Symbol.for('sequitur/appObserver')

export function appObserver(): AppObserver | undefined {
  return Reflect.get(globalThis, KEY)
}

export function setAppObserver(observer: AppObserver): void {
  Reflect.set(globalThis, KEY, observer)
}
