import { Model, type ModelStatic, type Sequelize } from 'sequelize'
import { Sequelize as TypescriptSequelize } from 'sequelize-typescript'
import { bracket, type Unit } from '../core/bracket.js'
import { BootError } from '../core/boot-error.js'
import { describeError } from '../core/log-text.js'
import { shown } from '../core/options.js'
import type { Provision } from '../di/provider.js'
import type { Constructor } from '../di/token.js'
import { joinCurrentTransaction, joinsCurrentTransaction } from './session/join-current-transaction.js'
import {
  checkTables,
  refuseCorruptedColumns,
  refuseCostlyPatterns,
  refuseShadowedColumns,
} from './startup/schema-check.js'
import { readGeneratedColumns } from './models/database-generated-columns.js'
import { connect, type Connection, connectionOf } from './startup/connect.js'
import type { TransactionNeeds } from './dialect.js'
import type { FindErrorStatus } from '../core/error-status.js'
import type { RouteFacts } from '../di/route-facts.js'
import { findErrorStatus } from './error-status.js'
import { disableFastPath } from './sequelize/fast-path.js'
import { currentScope, innermostScope } from './session/current-scope.js'
import { checkLifespanOptions, type LifespanOptions } from './config/lifespan-options.js'
import './models/model-shape.js'
import { waitForDatabase } from './startup/wait-for-database.js'
import { currentSession, Session } from './session/session.js'
import { SessionUnit } from './session/session-unit.js'
import { DEFAULT_START_TIMEOUT, readFastPath, readSettings } from './config/settings.js'
import { isolationText, transactionalOf } from './session/transactional.js'
import { checkInternals } from './sequelize/check-internals.js'
import { reportUnhandledQueries } from './session/unhandled-queries.js'
import { describeDatabase } from './config/url.js'
import { escapeEveryValue } from './sequelize/value-literals.js'

export type { LifespanOptions } from './config/lifespan-options.js'

/** What opening a database takes. */
interface Opening {
  readonly connection: Connection
  /** Without its password, for messages. */
  readonly name: string
  readonly sync: boolean
  readonly startTimeout: number
}

const running = new Set<Database>()
const owners = new WeakMap<Constructor, Database>()

/** A database for as long as the app lives. Made by {@link newLifespan}; `lifespan` is the one that the environment names. */
export class Database {
  /** Asks for this database's session, where there are several: `@Inject(audit.Session) log: Session`. */
  readonly Session: typeof Session = class DatabaseSession extends Session {}
  readonly findErrorStatus: FindErrorStatus = findErrorStatus
  readonly #source: string | Sequelize | undefined
  readonly #options: LifespanOptions
  readonly #models: Set<Constructor>
  #running: Connection | undefined
  #log: (line: string) => void = () => {}
  #report = toConsole
  #endReports: () => void = () => {}
  #users = 0
  #shared: Promise<void> | undefined

  constructor(source: string | Sequelize | undefined, options: LifespanOptions) {
    refuseOtherThanSource(source)
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
    return this.#running !== undefined
  }

  get #started(): Connection {
    if (this.#running) return this.#running
    throw new Error(
      'The database is not running. It starts with the app: app.start(), app.listen() or app.inject(); in a script use withSession(lifespan, work).',
    )
  }

  get provisions(): readonly Provision[] {
    const create = () => currentSession(this.sequelize)
    return [Session, this.Session].map((token) => ({
      token,
      provider: { kind: 'factory', create, dependencies: [], lifetime: 'request' },
    }))
  }

  adopt(models: readonly Constructor[]): void {
    for (const model of models) this.#models.add(model)
  }

  /**
   * Connects, maps the models, and compares them with the tables.
   *
   * @param report told of errors that are nobody's to catch, and of what they are.
   * @throws DatabaseUrlError, DatabaseStartError, or BootError for models that cannot work.
   */
  async start(log: (line: string) => void = () => {}, report = toConsole): Promise<void> {
    if (this.#running) {
      throw new BootError('This lifespan is already running: an app is started once, and one lifespan serves one app.')
    }
    this.#log = log
    this.#report = report
    this.#refuseSharedModels()
    const connection = await this.#open()
    this.#running = connection
    const reportUnhandled = (error: unknown) => report('An unawaited query failed', error)
    this.#endReports = reportUnhandledQueries(connection.sequelize, reportUnhandled, innermostScope)
    running.add(this)
  }

  async #open(): Promise<Connection> {
    const { connection, name, sync, startTimeout } = this.#opening()
    const { sequelize, dialect } = connection
    if (!readFastPath(this.#options)) disableFastPath(sequelize)
    try {
      await checkInternals(sequelize)
      await dialect.prepare(sequelize)
      escapeEveryValue(sequelize)
      joinCurrentTransaction(sequelize)
      readGeneratedColumns(sequelize)
      const models = this.#map(sequelize)
      refuseShadowedColumns(models)
      refuseCorruptedColumns(models)
      refuseCostlyPatterns(models)
      await waitForDatabase(sequelize, name, startTimeout, this.#log)
      if (sync) await sequelize.sync()
      await checkTables(sequelize, models)
      return connection
    } catch (error) {
      await sequelize.close()
      throw error
    }
  }

  #opening(): Opening {
    if (typeof this.#source === 'object') {
      if (joinsCurrentTransaction(this.#source))
        throw new BootError(
          'This Sequelize instance was closed with its app and cannot be opened again. Make a new one for each app.',
        )
      const { sync = false, startTimeout = DEFAULT_START_TIMEOUT } = this.#options
      return { connection: connectionOf(this.#source), name: this.#source.getDialect(), sync, startTimeout }
    }
    const { config, replicas, echo, sync, startTimeout } = readSettings(this.#source, this.#options)
    const logging = echo ? (text: string) => this.#log(text) : false
    return { connection: connect(config, replicas, { logging }), name: describeDatabase(config), sync, startTimeout }
  }

  /** The models of this database: those named, and on an instance of the program's own those that it has. */
  #map(sequelize: Sequelize): readonly ModelStatic<Model>[] {
    const named = [...this.#models] as unknown as ModelStatic<Model>[] // of createApp({ models })
    const own = named.filter((model) => (model as { sequelize?: unknown }).sequelize !== sequelize) // undefined before it is mapped
    addModels(sequelize, own)
    for (const model of this.#models) owners.set(model, this)
    return [...new Set([...named, ...(Object.values(sequelize.models) as ModelStatic<Model>[])])]
  }

  // A model class knows one database; a second one would take it away from the first.
  #refuseSharedModels(): void {
    for (const model of this.#models) {
      const owner = owners.get(model)
      if (owner && owner !== this && owner.isRunning) {
        throw new BootError(
          `The model ${model.name} is in use by another running database. Close that app first, or give each database a class of its own: class Other${model.name} extends ${model.name} {}.`,
        )
      }
    }
  }

  /** The models among these classes that no database has: sequelize-typescript's before they are named, and Model.init's before init(). */
  modelsWithoutDatabase(classes: readonly unknown[]): readonly Constructor[] {
    return classes.filter(isModel).filter(({ sequelize }) => sequelize === undefined) as unknown as Constructor[]
  }

  /** Runs the work while the database is open: of several at the same time the first opens it and the last closes it. */
  during<R>(work: () => Promise<R>): Promise<R> {
    return this.isRunning && this.#users === 0 ? work() : this.#opened(work)
  }

  async #opened<R>(work: () => Promise<R>): Promise<R> {
    this.#users++
    try {
      await (this.#shared ??= this.start())
      return await work()
    } finally {
      if (--this.#users === 0) {
        this.#shared = undefined
        await this.stop()
      }
    }
  }

  async stop(): Promise<void> {
    const started = this.#running
    this.#running = undefined
    this.#endReports()
    running.delete(this)
    await started?.sequelize.close()
  }

  /** How a route's attempts open their unit of work; undefined with `@Transactional(false)`. @throws BootError when such a handler asks for a session. */
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

  /** Runs the work in a session of its own. */
  session<R>(work: (session: Session) => Promise<R>): Promise<R> {
    let unit: SessionUnit | undefined
    const open = () => [(unit = this.#unit({}))]
    return bracket(
      open,
      () => work((unit as SessionUnit).session),
      (result) => result,
      { report: (error) => this.#report('A session', error) },
    )
  }
}

function refuseOtherThanSource(source: unknown): void {
  if (source === undefined || typeof source === 'string') return
  if (typeof source === 'object' && source !== null && 'getDialect' in source) return
  throw new BootError(
    `newLifespan(): the first argument is ${shown(source)}. Write a URL, a Sequelize instance, or undefined for the URL that the environment names; options come second.`,
  )
}

function sessionWithoutTransaction({ name }: Constructor, member: string): string {
  return (
    `${name}.${member} has @Transactional(false), but asks for a Session (a paginator asks for one, too). ` +
    `Take the decorator away, or open sessions yourself: withSession(async (session) => { ... }).`
  )
}

function addModels(sequelize: Sequelize, models: readonly ModelStatic<Model>[]): void {
  if (models.length === 0) return
  if (!(sequelize instanceof TypescriptSequelize)) {
    throw new BootError(
      `${models.map(({ name }) => name).join(', ')}: initialize the models on your Sequelize instance, or make it with sequelize-typescript's Sequelize.`,
    )
  }
  try {
    sequelize.addModels(models as never)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    const hint = message.startsWith('@Table annotation is missing')
      ? '. Write @Table; a model of init() comes with its own Sequelize instance: hand that over, newLifespan(sequelize), and leave it out of models.'
      : ''
    throw new BootError(`The models cannot be mapped: ${message}${hint}`, { cause })
  }
}

function isModel(type: unknown): type is ModelStatic<Model> {
  return typeof type === 'function' && type.prototype instanceof Model
}

// A script has no logger.
function toConsole(what: string, error: unknown): void {
  console.error(`${what}: ${describeError(error)}`)
}

/**
 * A database named in code, or several of them. Without a URL it is the one that the environment names. A Sequelize instance that the
 * program made itself brings its models along, also those of `Model.init`, and is closed when the app stops.
 *
 * @example
 * const audit = newLifespan('postgres+pg://localhost/audit', { models: [Entry] })
 * createApp({ controllers, models: [Hero], lifespan: [lifespan, audit] })
 */
export function newLifespan(source?: string | Sequelize, options: LifespanOptions = {}): Database {
  return new Database(source, options)
}

/** The database named by `toolkit_url`, else `DATABASE_URL`, in the environment (any letter case), read when the app starts. */
export const lifespan: Database = newLifespan()

/**
 * A session outside of a request: committed when the work resolves, rolled back when it rejects.
 * In a running app it uses the app's database. In a script name the database: it is started, and stopped at the end.
 *
 * @throws what the work throws, or what COMMIT throws.
 * @example
 * await withSession(async (session) => { await session.execute(sql`DELETE FROM visit WHERE at < ${limit}`) })
 * await withSession(lifespan, async (session) => { session.addAll(heroes.map((hero) => Hero.build(hero))) })
 */
export async function withSession<R>(work: (session: Session) => Promise<R>): Promise<R>
export async function withSession<R>(database: Database, work: (session: Session) => Promise<R>): Promise<R>
export async function withSession<R>(
  ...args: [(session: Session) => Promise<R>] | [Database, (session: Session) => Promise<R>]
): Promise<R> {
  const [database, work] = args.length === 2 ? args : [theRunning(), args[0]]
  return database.during(() => database.session(work))
}

function theRunning(): Database {
  const [only, ...others] = lifespan.isRunning ? [lifespan] : [...running]
  if (only && others.length === 0) return only
  throw new Error(
    only
      ? `Several databases are running: say which, withSession(database, async (session) => { ... }).`
      : `No app is running. In a script name the database: withSession(lifespan, async (session) => { ... }).`,
  )
}
