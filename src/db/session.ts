import {
  type Attributes,
  type FindOptions,
  type Model,
  type ModelStatic,
  type Sequelize,
  type Transaction,
} from 'sequelize'
import type { Unit } from '../di/bracket.js'
import { currentLevel, enterLevel, Level } from './ambient.js'
import { type Change, inForeignKeyOrder } from './change.js'
import { countRows } from './count.js'
import { codeOf, type Dialect, type TransactionNeeds } from './dialect.js'
import { ReadOnlyError, StaleSnapshotError } from './errors.js'
import { toFind } from './find.js'
import type { Select, Sql } from './statement.js'
import { LazyTransaction } from './transaction.js'

/** What the session tells the unit of work, which ends it. */
interface SessionState {
  readonly level: Level
  readonly callbacks: (() => unknown)[]
  keeps: boolean
}

const sessions = new WeakMap<LazyTransaction, Session>()

/** The session of this database at this point of the program. */
export function currentSession(sequelize: Sequelize): Session | undefined {
  const level = currentLevel(sequelize)
  return level && sessions.get(level.transaction)
}

/**
 * The database session of one request or job: one transaction, committed when the handler returns, rolled back when it throws.
 * Queries made through models join it by themselves.
 *
 * @example
 * @Get('/:hero_id', Item.of(HeroModel))
 * async get(hero_id: number, session: Session) {
 *   return { data: (await session.get(Hero, hero_id)) ?? notFound('Hero not found') }
 * }
 */
export class Session {
  readonly #sequelize: Sequelize
  readonly #state: SessionState
  #changes: Change[] = []

  /** @internal Sessions are made by the bracket: ask for one by a parameter, or use withSession(). */
  constructor(sequelize: Sequelize, state: SessionState) {
    this.#sequelize = sequelize
    this.#state = state
  }

  get #level(): Level {
    return this.#state.level
  }

  // Inside of nested() the level is the savepoint's, whose own savepoints must not wait for it to end.
  get #here(): Level {
    const level = currentLevel(this.#sequelize)
    return level?.transaction === this.#level.transaction ? level : this.#level
  }

  /** Sequelize's transaction, for whatever the session has no method for. @throws SessionClosedError after the end. */
  get transaction(): Transaction {
    this.#level.assertOpen()
    return this.#level.transaction
  }

  /** The Sequelize instance of this session's database. */
  get sequelize(): Sequelize {
    return this.#sequelize
  }

  /** @internal Several queries that must agree come: where nothing was read yet and nothing else was asked for, they see one snapshot. */
  readOneSnapshot(): void {
    this.#level.transaction.readOneSnapshot()
  }

  /** The row with this primary key, or null. A composite key is given as an object of its columns. */
  get<M extends Model>(
    model: ModelStatic<M>,
    key: Key<M>,
    options: Omit<FindOptions<Attributes<M>>, 'where'> = {},
  ): Promise<M | null> {
    if (typeof key === 'object' && !(key instanceof Date) && !Buffer.isBuffer(key)) {
      return model.findOne({ ...options, where: key as NonNullable<FindOptions<Attributes<M>>['where']> })
    }
    return model.findByPk(key as string, options)
  }

  /** All rows of a statement. */
  all<M extends Model>({ model, options }: Select<M>): Promise<M[]> {
    return model.findAll({ ...options })
  }

  /** The first row of a statement, or null. */
  first<M extends Model>({ model, options }: Select<M>): Promise<M | null> {
    return model.findOne({ ...options })
  }

  /** How many rows of the model a statement has. With includes, rows of the model are counted, not of the join. */
  count<M extends Model>(statement: Select<M>): Promise<number> {
    return countRows(toFind(statement))
  }

  /** The rows of a text. Its values are bound by the database, never put into the text. */
  async execute<Row>(statement: Sql<Row>): Promise<Row[]> {
    const level = this.#here
    const rows = await level.query(statement.texts.join('?'), () => level.transaction.rows(statement))
    return Array.isArray(rows) ? (rows as Row[]) : [] // what the text selects is its writer's knowledge
  }

  /** Notes a new or changed instance; {@link flush} writes it, at the latest before COMMIT. Returns the instance. */
  add<M extends Model>(instance: M): M {
    this.#level.assertOpen()
    this.#changes.push({ kind: 'save', instance })
    return instance
  }

  /** {@link add} for several. */
  addAll<M extends Model>(instances: readonly M[]): readonly M[] {
    for (const instance of instances) this.add(instance)
    return instances
  }

  /** Notes an instance to be deleted by {@link flush}. */
  delete(instance: Model): void {
    this.#level.assertOpen()
    this.#changes.push({ kind: 'delete', instance })
  }

  /**
   * Writes what was added and deleted. Of additions in a row, those that others refer to come first; of deletions, last.
   * Afterwards keys and defaults that the database made are on the instances.
   *
   * @throws what the database says, such as UniqueConstraintError; the rest is then not written.
   */
  async flush(): Promise<void> {
    const changes = this.#changes
    this.#changes = []
    for (const { kind, instance } of inForeignKeyOrder(this.#sequelize, changes)) {
      if (kind === 'save') await instance.save()
      else await instance.destroy()
    }
  }

  /** Reads an instance's columns again. */
  refresh<M extends Model>(instance: M): Promise<M> {
    return instance.reload()
  }

  /**
   * Runs the work in a savepoint: when it throws, only the work is undone, and the session goes on.
   *
   * @example
   * try {
   *   await session.nested(() => Hero.create(input))
   * } catch (error) {
   *   if (!(error instanceof UniqueConstraintError)) throw error   // the name was taken; what was written before is kept
   * }
   */
  nested<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#here.nested(async () => {
      const result = await work(this)
      await this.flush()
      return result
    })
  }

  /** Runs the callback once COMMIT has succeeded, before the response; never when it failed or was not tried. Its errors are logged. */
  afterCommit(callback: () => unknown): void {
    this.#level.assertOpen()
    this.#state.callbacks.push(callback)
  }

  /** Answer as usual, but keep nothing. */
  rollback(): void {
    this.#level.assertOpen()
    this.#state.keeps = false
  }
}

/** What finds a row: its primary key's value, or for a composite key the columns. */
export type Key<M extends Model> =
  | string
  | number
  | bigint
  | Date
  | Buffer
  | { readonly [K in keyof Attributes<M>]?: Attributes<M>[K] }

export interface UnitOptions extends TransactionNeeds {
  /** How many times conflicting work may be run again. */
  readonly retry: number
  readonly onCallbackError: (error: unknown) => void
}

/** How PostgreSQL, MySQL and SQLite refuse a write in a read-only transaction. */
const REFUSED_WRITES: ReadonlySet<string> = new Set([
  '25006',
  'ER_CANT_EXECUTE_IN_READ_ONLY_TRANSACTION',
  'SQLITE_READONLY',
])

/** The session's side of the bracket: see di/bracket.ts for the order of these steps. */
export class SessionUnit implements Unit {
  readonly session: Session
  readonly #sequelize: Sequelize
  readonly #transaction: LazyTransaction
  readonly #state: SessionState
  readonly #options: UnitOptions
  readonly #dialect: Dialect
  #stale: unknown
  #conflict = false
  #kept = false

  constructor(sequelize: Sequelize, dialect: Dialect, SessionClass: typeof Session, options: UnitOptions) {
    this.#sequelize = sequelize
    this.#options = options
    this.#dialect = dialect
    this.#transaction = new LazyTransaction(sequelize, dialect, options)
    this.#state = {
      level: Level.of(sequelize, this.#transaction, {
        onError: (error) => this.#noted(error),
        isUndoing: (error) => dialect.isUndoing(error),
      }),
      callbacks: [],
      keeps: true,
    }
    this.session = new SessionClass(sequelize, this.#state)
    sessions.set(this.#transaction, this.session)
  }

  #noted(error: unknown): unknown {
    if (this.#options.reader && this.#dialect.isStale(error)) this.#stale = error
    if (this.#dialect.isConflict(error)) this.#conflict = true
    return this.#options.readOnly && REFUSED_WRITES.has(codeOf(error)) ? new ReadOnlyError(error) : error
  }

  get hasKept(): boolean {
    return this.#kept
  }

  enter<T>(work: () => Promise<T>): Promise<T> {
    return enterLevel(this.#sequelize, this.#state.level, work)
  }

  settle(): Promise<void> {
    return this.enter(async () => {
      await this.session.flush()
      await this.#state.level.settle()
    })
  }

  async commit(): Promise<void> {
    // The handler may have caught the error; what it read is old all the same.
    if (this.#stale !== undefined) throw new StaleSnapshotError(this.#stale)
    const { level, keeps } = this.#state
    if (keeps) level.assertKept()
    level.end(keeps ? 'committed' : 'rolled back')
    await (keeps ? this.#transaction.commit() : this.#transaction.rollback())
    this.#kept = keeps && this.#transaction.used
  }

  async rollback(): Promise<void> {
    if (this.#transaction.finished) return
    await this.#state.level.abandon()
    // A failed ROLLBACK has closed the connection, which undoes the work as well.
    await this.#transaction.rollback().catch(() => {})
  }

  async committed(): Promise<void> {
    const { callbacks, keeps } = this.#state
    if (!keeps) return
    for (const callback of callbacks) {
      try {
        await callback()
      } catch (error) {
        this.#options.onCallbackError(error)
      }
    }
  }

  /**
   * A GET that began as a reader and could not go on to write is run again as a writer, once. Work that others were in the way of
   * is run again as often as it was declared to be; the handler may have turned the database's error into one of its own.
   */
  retryAfter(error: unknown, attempt: number): number | undefined {
    if (this.#stale !== undefined && attempt === 0) return 0
    const conflict = this.#conflict || this.#dialect.isConflict(error)
    return conflict && attempt < this.#options.retry ? jitter(attempt) : undefined
  }
}

/** Milliseconds, "full jitter": anything up to a bound that doubles with each attempt. Source: M. Brooker, Exponential Backoff And Jitter, 2015. */
function jitter(attempt: number): number {
  return Math.random() * Math.min(200, 5 * 2 ** attempt)
}
