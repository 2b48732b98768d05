import { type Model, type ModelStatic, type Options } from 'sequelize'
import { Sequelize } from 'sequelize-typescript'
import { bracket, type Unit } from '../di/bracket.js'
import { BootError } from '../di/errors.js'
import type { Provision } from '../di/provider.js'
import type { Constructor, Token } from '../di/token.js'
import { bindAmbient } from './ambient.js'
import { compareTables, refuseShadowedColumns } from './check.js'
import type { Dialect } from './dialect.js'
import { mysqlDialect } from './dialects/mysql.js'
import { postgresDialect } from './dialects/postgres.js'
import { sqliteDialect } from './dialects/sqlite.js'
import { fromEnvironment } from './environment.js'
import { DatabaseStartError } from './errors.js'
import { explain, type Explanation } from './explain.js'
import './model-shape.js'
import { currentSession, Session, SessionUnit } from './session.js'
import { isolationText, transactionalOf } from './transactional.js'
import { type DatabaseConfig, describeDatabase, parseDatabaseUrl } from './url.js'

export interface LifespanOptions {
  /** The URL where none is given and the environment names none. */
  readonly defaultUrl?: string
  /** Models of this database; those given to `createApp({ models })` are added. */
  readonly models?: readonly Constructor<Model>[]
  /** Create missing tables at the start: for tests and demos. By default what `toolkit_sync` says, else false. */
  readonly sync?: boolean
  /** The most connections; on SQLite the most readers. By default what the URL or `toolkit_pool_size` says. */
  readonly poolSize?: number
  /** Milliseconds to wait for a connection, or for the turn to write. By default what the URL or `toolkit_pool_timeout` (in seconds) says. */
  readonly poolTimeout?: number
  /** Log the SQL. By default what the URL or `toolkit_echo` says. */
  readonly echo?: boolean
}

interface RouteFacts {
  readonly controller: Constructor
  readonly member: string
  readonly safe: boolean
  /** What the handler, and all that it asks for, ask for. */
  readonly tokens: readonly Token[]
}

interface Running {
  readonly sequelize: Sequelize
  readonly dialect: Dialect
}

const running = new Set<Database>()
const owners = new WeakMap<Constructor, Database>()

/** A database for as long as the app lives. Made by {@link newLifespan}; `lifespan` is the one that the environment names. */
export class Database {
  /** Asks for this database's session, where there are several: `@Inject(audit.Session) log: Session`. */
  readonly Session: typeof Session = class DatabaseSession extends Session {}
  readonly explain: (error: unknown) => Explanation | undefined = explain
  readonly #url: string | undefined
  readonly #options: LifespanOptions
  readonly #models: Set<Constructor>
  #running: Running | undefined
  #log: (line: string) => void = () => {}

  constructor(url: string | undefined, options: LifespanOptions) {
    this.#url = url
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

  get #started(): Running {
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
   * @throws DatabaseUrlError, DatabaseStartError, or BootError for models that cannot work.
   */
  async start(log: (line: string) => void = () => {}): Promise<void> {
    if (this.#running)
      throw new BootError('This lifespan is already running: an app is started once, and one lifespan serves one app.')
    this.#log = log
    const config = configOf(this.#url, this.#options)
    this.#refuseSharedModels()
    const dialect = dialectOf(config)
    const sequelize = new Sequelize({ ...dialect.sequelizeOptions, ...this.#common(config) })
    dialect.prepare(sequelize)
    bindAmbient(sequelize)
    try {
      await this.#open(sequelize, config)
    } catch (error) {
      await sequelize.close()
      throw error
    }
    this.#running = { sequelize, dialect }
    running.add(this)
  }

  #common(config: DatabaseConfig): Options {
    const echo = this.#options.echo ?? config.options.echo ?? isTrue(fromEnvironment('toolkit_echo'))
    return { logging: echo ? (text: string) => this.#log(text) : false, benchmark: false }
  }

  async #open(sequelize: Sequelize, config: DatabaseConfig): Promise<void> {
    const models = [...this.#models] as unknown as (ModelStatic<Model> & Constructor)[]
    addModels(sequelize, models)
    for (const model of models) owners.set(model, this)
    refuseShadowedColumns(models)
    try {
      await sequelize.query('SELECT 1')
    } catch (cause) {
      throw new DatabaseStartError(
        `Cannot reach the database (${describeDatabase(config)}): ${cause instanceof Error ? cause.message : String(cause)}`,
        { cause },
      )
    }
    if (this.#options.sync ?? isTrue(fromEnvironment('toolkit_sync'))) await sequelize.sync()
    await compareTables(sequelize, models)
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

  async stop(): Promise<void> {
    const started = this.#running
    this.#running = undefined
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
    return (attempt) => this.#unit({ ...needs, reader: safe && attempt === 0 })
  }

  #unit(needs: { readonly readOnly?: boolean; readonly isolation?: string; readonly reader?: boolean }): SessionUnit {
    const { sequelize, dialect } = this.#started
    const onCallbackError = (error: unknown) =>
      this.#log(`afterCommit: ${error instanceof Error ? error.stack : String(error)}`)
    return new SessionUnit(sequelize, dialect, this.Session, { ...needs, onCallbackError })
  }

  /** Runs the work in a session of its own. */
  async session<R>(work: (session: Session) => Promise<R>): Promise<R> {
    let unit: SessionUnit | undefined
    const open = () => [(unit = this.#unit({}))]
    return bracket(
      open,
      () => work((unit as SessionUnit).session),
      (result) => result,
    )
  }
}

function sessionWithoutTransaction({ name }: Constructor, member: string): string {
  return (
    `${name}.${member} has @Transactional(false), but asks for a Session (a paginator asks for one, too). ` +
    `Take the decorator away, or open sessions yourself: withSession(async (session) => { ... }).`
  )
}

function addModels(sequelize: Sequelize, models: readonly (ModelStatic<Model> & Constructor)[]): void {
  try {
    sequelize.addModels(models as never)
  } catch (cause) {
    throw new BootError(`The models cannot be mapped: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    })
  }
}

function dialectOf(config: DatabaseConfig): Dialect {
  switch (config.dialect) {
    case 'sqlite':
      return sqliteDialect(config)
    case 'postgres':
      return postgresDialect(config)
    case 'mysql':
    case 'mariadb':
      return mysqlDialect(config)
      throw new DatabaseStartError(`${config.dialect} is not supported yet. Use sqlite+sqlite3:// or postgres+pg://.`)
  }
}

function configOf(url: string | undefined, options: LifespanOptions): DatabaseConfig {
  const config = url === undefined ? configFromEnvironment(options.defaultUrl) : parseDatabaseUrl(url, 'newLifespan')
  const size = options.poolSize ?? config.options.poolSize ?? numberFrom('toolkit_pool_size', 1)
  const timeout = options.poolTimeout ?? config.options.poolTimeout ?? numberFrom('toolkit_pool_timeout', 1000)
  const pool = {
    ...(size === undefined ? {} : { poolSize: size }),
    ...(timeout === undefined ? {} : { poolTimeout: timeout }),
  }
  return { ...config, options: { ...config.options, ...pool } } as DatabaseConfig
}

function configFromEnvironment(defaultUrl: string | undefined): DatabaseConfig {
  for (const name of ['toolkit_url', 'DATABASE_URL']) {
    const url = fromEnvironment(name)
    if (url) return parseDatabaseUrl(url, name)
  }
  if (defaultUrl !== undefined) return parseDatabaseUrl(defaultUrl, 'newLifespan, defaultUrl')
  throw new DatabaseStartError(
    `No database is named. Set toolkit_url (or DATABASE_URL) in the environment, for example\n` +
      `  toolkit_url=sqlite+sqlite3:///./app.sqlite\n  toolkit_url=postgres+pg://user:password@localhost/app\n` +
      `or name it in code: newLifespan('sqlite+sqlite3:///./app.sqlite').`,
  )
}

function numberFrom(name: string, factor: number): number | undefined {
  const text = fromEnvironment(name)
  if (text === undefined || text === '') return undefined
  const number = Number(text)
  if (!(number > 0)) throw new DatabaseStartError(`${name} must be a number above 0, got '${text}'.`)
  return number * factor
}

function isTrue(text: string | undefined): boolean {
  return text !== undefined && ['1', 'true', 'yes', 'on'].includes(text.toLowerCase())
}

/**
 * A database named in code, or several of them. Without a URL it is the one that the environment names.
 *
 * @example
 * const audit = newLifespan('postgres+pg://localhost/audit', { models: [Entry] })
 * createApp({ controllers, models: [Hero], lifespan: [lifespan, audit] })
 */
export function newLifespan(url?: string, options: LifespanOptions = {}): Database {
  return new Database(url, options)
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
  if (database.isRunning) return database.session(work)
  await database.start()
  try {
    return await database.session(work)
  } finally {
    await database.stop()
  }
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
