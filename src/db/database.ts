import { adviseKeys, describeKey, generatedKeys, usedShare } from './generated-keys.js'
import type { Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { endsWithin, nextTurn } from '../core/promises.js'
import type { Unit } from '../core/bracket.js'
import type { ClientTokenPlace } from '../core/client-token.js'
import type { SentStatement, WorkRecord } from '../core/events/work-record.js'
import type { FindErrorStatus } from '../core/error-status.js'
import { describeError, escapeForLog } from '../core/log-text.js'
import type { Provision } from '../di/provider.js'
import type { OpenUnit, RouteFacts, TransactionDescription } from '../di/route-facts.js'
import type { Constructor } from '../di/token.js'
import type { Boundary } from './boundary.js'
import { BoundaryWatch } from './boundary-watch.js'
import { checkLifespanOptions, type LifespanOptions } from './config/lifespan-options.js'
import { readStartTimeout, readTokenPlace } from './config/settings.js'
import type { Dialect } from './dialect.js'
import { findErrorStatus } from './error-status.js'
import { explain } from './explain/explain.js'
import { adviseIndexes } from './indexes/index-advice.js'
import { Life } from './life.js'
import { ping, publicName } from './ping.js'
import { RouteReads } from './route-reads.js'
import { currentScope, innermostScope } from './session/current-scope.js'
import { sequelizeInternals } from './sequelize/internals.js'
import { SessionUnit, type UnitNeeds, UnitOptions } from './session/session-unit.js'
import { currentSession, Session } from './session/session.js'
import {
  conflictWithoutRetry,
  isolationText,
  sessionWithoutTransaction,
  transactionalOf,
} from './session/transactional.js'
import { reportUnhandledQueries, type UnhandledQuery } from './session/unhandled-queries.js'
import { withCompanions } from './startup/companions.js'
import { hasModels, modelsWithoutDatabase, refuseSharedModels } from './startup/map-models.js'
import { type OpenDatabase, openDatabase } from './startup/open-database.js'

const running = new Set<Database>()

/** Milliseconds that {@link Database.stop} waits for sessions outside of requests. */
const MAX_WAIT_FOR_JOBS = 10_000
/** Milliseconds that it waits then for connections that are in use. */
const MAX_WAIT_FOR_CONNECTIONS = 5_000

/** Characters of the SQL of an unawaited query. */
const MAX_LOGGED_SQL = 1_000

const STARTED_INSIDE =
  'app.start() was called inside withSession(), which has opened the database without the models of the app. Start the app before or after it, or write newLifespan(url, { models }).'

/** A database with its models, and what limits the rows that statements reach. */
export interface ModelsOfDatabase {
  readonly sequelize: Sequelize
  readonly boundary?: Boundary
}

/** The databases that are running, or starting. */
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
  readonly #life = new Life<OpenDatabase>({
    open: () => this.#open(),
    close: (connection) => this.#close(connection),
    endJobs: () => this.#endJobs(),
  })
  /** The sessions outside of requests. */
  readonly #running = new Set<SessionUnit>()
  /** Handlers that distributed databases refuse at times, and that are not run again: what they do, by their names. */
  readonly #withoutRetry = new Map<string, string>()
  #log: (line: string) => void = () => {}
  #report = reportToConsole
  #warn: ((line: string) => void) | undefined
  /** Ends the wait for a database that does not answer: of the app that starts. */
  #signal: AbortSignal | undefined
  #limits: BoundaryWatch | undefined
  /** See {@link replaceDialect}. */
  #replaced: Dialect | undefined

  constructor(source: string | Sequelize | undefined, options: LifespanOptions) {
    checkLifespanOptions(options)
    this.#source = source
    this.#options = options
    this.#models = new Set(withCompanions(options.models ?? []))
  }

  /** The Sequelize instance. @throws Error before the start and after the stop. */
  get sequelize(): Sequelize {
    return this.#started.sequelize
  }

  get isRunning(): boolean {
    return this.#life.opened !== undefined
  }

  get #started(): OpenDatabase {
    const { opened } = this.#life
    if (opened) return opened
    throw new Error(
      'The database is not running. It starts with the app: app.start(), app.listen() or app.inject(); in a script use withSession(lifespan, work).',
    )
  }

  /** The objects that an app can inject: the session, under both of its tokens. */
  get provisions(): readonly Provision[] {
    const create = () => currentSession(this.#started.sequelize)
    return [Session, this.Session].map((token) => ({
      token,
      provider: { kind: 'factory', create, dependencies: [], lifetime: 'request' },
    }))
  }

  /** Adds the models of `createApp({ models })`. */
  adopt(models: readonly Constructor[]): void {
    for (const model of withCompanions(models)) this.#models.add(model)
  }

  /**
   * Connects, maps the models, and compares them with the tables.
   *
   * @param report called with what failed and its error, when no caller can catch the error, as of an unawaited query.
   * @param warn receives what works, but will not under load.
   * @param signal ends the wait for a database that does not answer yet, with its reason.
   * @throws DatabaseUrlError, DatabaseStartError, or BootError for models that cannot work.
   */
  async start(
    log: (line: string) => void = () => {},
    report = reportToConsole,
    warn?: (line: string) => void,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#life.own(
      ({ sequelize }) => {
        if (hasModels(sequelize, this.#models)) return true
        if (currentScope(sequelize)) throw new BootError(STARTED_INSIDE)
        return false
      },
      () => {
        this.#log = log
        this.#report = report
        this.#warn = warn
        this.#signal = signal
      },
      readStartTimeout(this.#options),
    )
  }

  async #open(): Promise<OpenDatabase> {
    running.add(this)
    try {
      refuseSharedModels(this.#models, this)
      const connection = await this.#connect({ createTables: true })
      const { boundary } = this.#options
      this.#limits = boundary && new BoundaryWatch(boundary, connection.sequelize)
      reportUnhandledQueries(connection.sequelize, (query) => this.#reportUnhandled(query), innermostScope)
      return connection
    } catch (error) {
      running.delete(this)
      throw error
    }
  }

  #connect({
    createTables,
    comparesTables = true,
    source = this.#source,
    options = this.#options,
  }: {
    readonly createTables: boolean
    readonly comparesTables?: boolean
    readonly source?: string | Sequelize | undefined
    readonly options?: LifespanOptions
  }): Promise<OpenDatabase> {
    return openDatabase({
      owner: this,
      source,
      comparesTables,
      options,
      models: this.#models,
      withoutRetry: this.#withoutRetry,
      createTables,
      log: (line) => this.#log(line),
      warn: createTables ? this.#warn : undefined,
      signal: createTables ? this.#signal : undefined,
    })
  }

  /** @internal Reports an error that no caller can catch. @param what has failed. */
  report(what: string, error: unknown): void {
    this.#report(what, error)
  }

  #reportUnhandled({ error, sql, route }: UnhandledQuery): void {
    const place = route === undefined ? '' : ` in ${route}`
    const statement = sql === undefined ? '' : `: ${escapeForLog(sql, MAX_LOGGED_SQL)}`
    this.#report(`An unawaited query${place} failed${statement}`, error)
  }

  /**
   * Closes all connections.
   *
   * @param wait milliseconds to wait for sessions outside of requests, which are rolled back then.
   */
  stop(wait = MAX_WAIT_FOR_JOBS): Promise<void> {
    return this.#life.disown(wait)
  }

  async #close({ sequelize, name }: OpenDatabase): Promise<void> {
    running.delete(this)
    this.#signal = undefined // a job may open it again
    // The pool waits for every connection, also for one of a transaction that the program has begun itself and never ends.
    if (!(await endsWithin(sequelize.close(), MAX_WAIT_FOR_CONNECTIONS)))
      this.#report(
        'While closing',
        new Error(`A connection of ${name} is still in use: a transaction of sequelize.transaction() has not ended.`),
      )
  }

  async #endJobs(): Promise<void> {
    await Promise.all([...this.#running].map((unit) => unit.rollback()))
  }

  /** Runs the work while the database is running. If no app has started it, the first of simultaneous calls does, and the last stops it. */
  during<R>(work: () => Promise<R>): Promise<R> {
    return this.#life.use(work)
  }

  /**
   * How each attempt of a route opens its unit of work; without a unit with `@Transactional(false)`.
   *
   * @throws BootError for a route that injects a session although it has `@Transactional(false)`.
   */
  unitOpenerOf(facts: RouteFacts): OpenUnit | undefined {
    const { name, controller, member, safe, tokens } = facts
    const options = transactionalOf(controller, member)
    if (options === false) {
      if (tokens.some((token) => token === Session || token === this.Session))
        throw new BootError(sessionWithoutTransaction(`${controller.name}.${member}`, tokens))
      const { boundary } = this.#options
      return boundary && (() => void boundary.enterRequest())
    }
    const conflict = conflictWithoutRetry(options, tokens)
    if (conflict !== undefined) this.#withoutRetry.set(`${controller.name}.${member}`, conflict)
    const isolation = isolationText(options.isolation)
    const readOnly = options.readOnly === true
    const { maxLag } = options
    const limit = this.#options.boundary?.ofRoute(() => this.sequelize, facts)
    const reads = safe ? new RouteReads() : undefined
    return (attempt, record, token, request, previous) => {
      const reader = safe && (attempt === 0 || previous?.some(readsAgain) === true)
      const onPrimary = readOnly && attempt > 0
      const boundary = limit?.(request)
      return this.#unit(
        { isolation, readOnly, onPrimary, maxLag, safe, route: name, reader, reads, token, boundary },
        options.retry,
        record,
      )
    }
  }

  /** Whether {@link unitOpenerOf} opens its units with the request. */
  get needsRequest(): boolean {
    return this.#options.boundary !== undefined
  }

  /** Where clients keep the position of their last commit; undefined before the start, and without replicas. */
  get clientTokens(): ClientTokenPlace | undefined {
    const { opened } = this.#life
    return opened && hasReplicas(opened.sequelize) ? readTokenPlace(this.#options) : undefined
  }

  /** The transaction that {@link unitOpenerOf} opens, as `sequitur routes` describes it. */
  transactionOf({ controller, member }: RouteFacts): TransactionDescription | undefined {
    const options = transactionalOf(controller, member)
    if (options === false) return undefined
    const { isolation, readOnly = false, retry = 0 } = options
    return { isolation, readOnly, retry }
  }

  /** Compares the models with their tables, as `sequitur doctor` does: creates no tables. @returns how many models fit, and the indexes that are missing. */
  async check(): Promise<{
    readonly models: number
    readonly keys: readonly string[]
    readonly hints: readonly string[]
  }> {
    return this.inspect(async ({ sequelize, dialect }) => {
      const models = Object.values(sequelize.models)
      const keys = await generatedKeys(sequelize, dialect, models)
      const indexes = await adviseIndexes(sequelize, models, this.#options.boundary?.columns)
      return { models: models.length, keys: keys.map(describeKey), hints: [...indexes, ...adviseKeys(keys)] }
    })
  }

  /**
   * @internal What `newLifespan()` takes for the same database without models, whose tables may be missing, and without the limits of sessions.
   *
   * @throws BootError for a Sequelize instance, which is opened once, for the app.
   */
  withoutModels(): { readonly source: string | undefined; readonly options: LifespanOptions } {
    if (typeof this.#source === 'object')
      throw new BootError(
        'A Sequelize instance cannot be migrated: it is opened once, for the app. Write its URL: newLifespan(url).',
      )
    const { boundary: _, readYourWrites: __, ...options } = this.#options
    return { source: this.#source, options: { ...options, models: [], replicas: [], sync: false } }
  }

  /**
   * @internal Opens the database with its models, which are not compared with the tables, and closes it after the work. A missing file of SQLite is an empty
   * database. Statements may take long: they count the rows of large tables.
   *
   * @param source the URL of another database, to be opened with the same models.
   */
  async withModels<T>(work: (models: ModelsOfDatabase) => Promise<T>, source?: string): Promise<T> {
    const { boundary } = this.#options
    const opened = await this.#connect({
      createTables: false,
      comparesTables: false,
      source: source ?? this.#source,
      options: { ...this.#options, statementTimeout: 0 },
    })
    try {
      return await work({ sequelize: opened.sequelize, ...(boundary ? { boundary } : {}) })
    } finally {
      await opened.sequelize.close()
    }
  }

  /** @internal Opens the database without creating tables, which may be missing, and closes it after the work. */
  async inspect<T>(work: (opened: OpenDatabase) => Promise<T>): Promise<T> {
    const opened = await this.#connect({ createTables: false })
    try {
      return await work(opened)
    } finally {
      await opened.sequelize.close()
    }
  }

  /** How many of its keys each table has used, from 0 to 1, by `table.column`. @throws Error while it is not running; the driver's error. */
  async usedKeys(): Promise<Readonly<Record<string, number>>> {
    const { sequelize, dialect } = this.#started
    const keys = await generatedKeys(sequelize, dialect, Object.values(sequelize.models))
    return Object.fromEntries(keys.map((key) => [`${key.table}.${key.column}`, Number(usedShare(key).toFixed(4))]))
  }

  /** The kind and the name of the database, without its host and account; `database` while it is not running. */
  get publicName(): string {
    const { opened } = this.#life
    return opened ? publicName(opened.sequelize) : 'database'
  }

  /**
   * Resolves when the database has answered a statement, also while all connections of the pool are in use.
   *
   * @param limit milliseconds to wait for the answer.
   * @throws an Error when it does not answer in time, or is not running; the driver's error when it cannot be reached; BootError if the policies that
   * limit its tenants are missing, for which it is asked from time to time.
   */
  async ping(limit = 1_000): Promise<void> {
    const { sequelize, dialect } = this.#started
    const begunAt = performance.now()
    await ping(sequelize, dialect, limit)
    await this.#limits?.assertLimits((limit - (performance.now() - begunAt)) / 2)
  }

  /**
   * The plan of a statement that a request has sent to this database, as `createApp({ log: { explain: true } })` logs it: a line for each step, without
   * values. The statement is not executed. Undefined if it has no plan, if it belongs to another database, or while no connection is idle.
   *
   * @throws the driver's error, or an Error if there is no plan within a second.
   */
  async explain(statement: SentStatement): Promise<readonly string[] | undefined> {
    const { opened } = this.#life
    return opened && explain(opened.sequelize, opened.dialect, statement)
  }

  /** @internal For the transaction of a test. @throws Error before the start and after the stop. */
  get connection(): OpenDatabase {
    return this.#started
  }

  /**
   * @internal New sessions use this dialect: that of a test takes all connections from one transaction.
   *
   * @returns undoes it.
   */
  replaceDialect(dialect: Dialect): () => void {
    this.#replaced = dialect
    return () => void (this.#replaced = undefined)
  }

  #unit(needs: UnitNeeds, retry = 0, record?: WorkRecord): SessionUnit {
    const connection = this.#started
    const { sequelize, dialect } = connection
    return new SessionUnit(
      sequelize,
      this.#replaced ?? dialect,
      this.Session,
      new UnitOptions(needs, retry, connection, this.#running, record),
    )
  }

  /** Runs the work for the owner that a session of this database has had, such as a tenant; undefined for none. */
  runAs<T>(owner: string | undefined, work: () => T): T {
    const { boundary } = this.#options
    return boundary && owner !== undefined ? boundary.runAs(owner, work) : work()
  }

  /**
   * Runs the work in a new session.
   *
   * @param record of the job that the session belongs to; undefined if no one listens.
   * @throws the error of the work or of COMMIT.
   */
  async session<R>(work: (session: Session) => Promise<R>, given: UnitNeeds = {}, record?: WorkRecord): Promise<R> {
    const { boundary } = this.#options
    if (boundary) await nextTurn() // a job that a queue has started sees then that the job before it has ended
    const needs = boundary ? { ...given, boundary: boundary.ofJob(this.sequelize) } : given
    return this.#unit(needs, 0, record).run(work, (error) => this.#report('A session', error))
  }
}

function readsAgain(unit: Unit): boolean {
  return unit instanceof SessionUnit && unit.readsAgain
}

function hasReplicas(sequelize: Sequelize): boolean {
  return Boolean(sequelizeInternals(sequelize).options.replication)
}

// A script has no logger.
function reportToConsole(what: string, error: unknown): void {
  console.error(`${what}: ${describeError(error)}`)
}
