import type { Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { bracket, type Unit } from '../core/bracket.js'
import type { FindErrorStatus } from '../core/error-status.js'
import { describeError } from '../core/log-text.js'
import type { Provision } from '../di/provider.js'
import type { RouteFacts } from '../di/route-facts.js'
import type { Constructor } from '../di/token.js'
import { checkLifespanOptions, type LifespanOptions } from './config/lifespan-options.js'
import type { TransactionNeeds } from './dialect.js'
import { findErrorStatus } from './error-status.js'
import { currentScope, innermostScope } from './session/current-scope.js'
import { SessionUnit } from './session/session-unit.js'
import { currentSession, Session } from './session/session.js'
import { isolationText, transactionalOf } from './session/transactional.js'
import { reportUnhandledQueries } from './session/unhandled-queries.js'
import type { Connection } from './startup/connect.js'
import { modelsWithoutDatabase, refuseSharedModels } from './startup/map-models.js'
import { openDatabase } from './startup/open-database.js'

const running = new Set<Database>()

/** The databases that have been started and not stopped. */
export function runningDatabases(): readonly Database[] {
  return [...running]
}

/** A database during the life of an app. Created by {@link newLifespan}; `lifespan` is the one that the environment names. */
export class Database {
  /** A token for this database's session, for apps with several databases: `@Inject(audit.Session) log: Session`. */
  readonly Session: typeof Session = class DatabaseSession extends Session {}
  readonly findErrorStatus: FindErrorStatus = findErrorStatus
  readonly modelsWithoutDatabase: (classes: readonly unknown[]) => readonly Constructor[] = modelsWithoutDatabase
  readonly #source: string | Sequelize | undefined
  readonly #options: LifespanOptions
  readonly #models: Set<Constructor>
  #connection: Connection | undefined
  #report = reportToConsole
  #stopReports: () => void = () => {}
  #users = 0
  #starting: Promise<void> | undefined

  constructor(source: string | Sequelize | undefined, options: LifespanOptions) {
    checkLifespanOptions(options)
    this.#source = source
    this.#options = options
    this.#models = new Set(options.models)
  }

  /** The Sequelize instance. @throws Error before the start and after the stop. */
  get sequelize(): Sequelize {
    return this.#started.sequelize
  }

  get isRunning(): boolean {
    return this.#connection !== undefined
  }

  get #started(): Connection {
    if (this.#connection) return this.#connection
    throw new Error(
      'The database is not running. It starts with the app: app.start(), app.listen() or app.inject(); in a script use withSession(lifespan, work).',
    )
  }

  /** What an app can inject: the session, under both of its tokens. */
  get provisions(): readonly Provision[] {
    const create = () => currentSession(this.sequelize)
    return [Session, this.Session].map((token) => ({
      token,
      provider: { kind: 'factory', create, dependencies: [], lifetime: 'request' },
    }))
  }

  /** Adds the models of `createApp({ models })`. */
  adopt(models: readonly Constructor[]): void {
    for (const model of models) this.#models.add(model)
  }

  /**
   * Connects, maps the models, and compares them with the tables.
   *
   * @param report called with what failed and its error, when no caller can catch the error, as of an unawaited query.
   * @throws DatabaseUrlError, DatabaseStartError, or BootError for models that cannot work.
   */
  async start(log: (line: string) => void = () => {}, report = reportToConsole): Promise<void> {
    if (this.isRunning) {
      throw new BootError('This lifespan is already running: an app is started once, and one lifespan serves one app.')
    }
    this.#report = report
    refuseSharedModels(this.#models, this)
    const connection = await openDatabase({
      owner: this,
      source: this.#source,
      options: this.#options,
      models: this.#models,
      log,
    })
    this.#connection = connection
    const reportUnhandled = (error: unknown) => report('An unawaited query failed', error)
    this.#stopReports = reportUnhandledQueries(connection.sequelize, reportUnhandled, innermostScope)
    running.add(this)
  }

  /** Closes all connections. */
  async stop(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    this.#stopReports()
    running.delete(this)
    await connection?.sequelize.close()
  }

  /** Runs the work while the database is running. If no app has started it, the first of simultaneous calls does, and the last stops it. */
  during<R>(work: () => Promise<R>): Promise<R> {
    return this.isRunning && this.#users === 0 ? work() : this.#whileStarted(work)
  }

  async #whileStarted<R>(work: () => Promise<R>): Promise<R> {
    this.#users++
    try {
      await (this.#starting ??= this.start())
      return await work()
    } finally {
      if (--this.#users === 0) {
        this.#starting = undefined
        await this.stop()
      }
    }
  }

  /**
   * How each attempt of a route opens its unit of work; undefined with `@Transactional(false)`.
   *
   * @throws BootError for a route that injects a session although it has `@Transactional(false)`.
   */
  unitsOf({ controller, member, safe, tokens }: RouteFacts): ((attempt: number) => Unit) | undefined {
    const options = transactionalOf(controller, member)
    if (options === false) {
      if (tokens.some((token) => token === Session || token === this.Session))
        throw new BootError(sessionWithoutTransaction(controller, member))
      return undefined
    }
    const isolation = isolationText(options.isolation)
    const needs = { ...(isolation === undefined ? {} : { isolation }), readOnly: options.readOnly === true }
    return (attempt) => this.#unit({ ...needs, reader: safe && attempt === 0 }, options.retry)
  }

  #unit(needs: TransactionNeeds, retry = 0): SessionUnit {
    const { sequelize, dialect, endTimeout } = this.#started
    const outer = currentScope(sequelize)?.transaction
    return new SessionUnit(sequelize, dialect, this.Session, {
      ...needs,
      endTimeout,
      ...(outer ? { outer } : {}),
      retry,
    })
  }

  /** Runs the work in a new session. @throws the error of the work or of COMMIT. */
  session<R>(work: (session: Session) => Promise<R>): Promise<R> {
    let unit: SessionUnit | undefined
    return bracket(
      () => [(unit = this.#unit({}))],
      () => work((unit as SessionUnit).session), // the bracket opens the unit before it calls the work
      (result) => result,
      { report: (error) => this.#report('A session', error) },
    )
  }
}

function sessionWithoutTransaction({ name }: Constructor, member: string): string {
  return (
    `${name}.${member} has @Transactional(false), but injects a Session (a paginator injects one, too). ` +
    `Remove the decorator, or open sessions yourself: withSession(async (session) => { ... }).`
  )
}

// A script has no logger.
function reportToConsole(what: string, error: unknown): void {
  console.error(`${what}: ${describeError(error)}`)
}
