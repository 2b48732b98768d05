import {
  type Attributes,
  type FindOptions,
  Model,
  type ModelStatic,
  type Sequelize,
  type Transaction,
  type WhereOptions,
} from 'sequelize'
import { howToProvide } from '../../di/provider.js'
import { currentScope, enterScope, type TransactionScope } from './transaction-scope.js'
import type { PendingChange } from './pending-changes.js'
import { countRows } from '../statements/count.js'
import { ForeignModelError } from '../errors.js'
import { toFind } from '../statements/find.js'
import { findByKey } from '../statements/find-by-key.js'
import type { Select, Sql } from '../statements/statement.js'

/** What the session tells the unit of work, which ends it. */
export interface SessionState {
  readonly level: TransactionScope
  keeps: boolean
}

/** The session of this database at this point of the program. */
export function currentSession(sequelize: Sequelize): Session | undefined {
  return currentScope(sequelize)?.transaction.session as Session | undefined // put there by the unit below
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

  /** @internal Sessions are made by the bracket: ask for one by a parameter, or use withSession(). */
  constructor(sequelize: Sequelize, state: SessionState) {
    this.#sequelize = sequelize
    this.#state = state
  }

  get #level(): TransactionScope {
    return this.#state.level
  }

  // Inside of nested() the level is the savepoint's, whose own savepoints must not wait for it to end.
  get #here(): TransactionScope {
    const level = currentScope(this.#sequelize)
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

  // Whatever the asynchronous context has become, a session's own methods work in its own transaction, or are refused.
  #inside<T>(work: () => Promise<T>): Promise<T> {
    const here = this.#here
    try {
      here.assertOpen()
      return currentScope(this.#sequelize) === here ? work() : enterScope(this.#sequelize, here, work)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * The row with this primary key, or null. A composite key is given as an object of its columns.
   *
   * @throws TypeError for an object that is not exactly the primary key.
   */
  get<M extends Model>(
    model: ModelStatic<M>,
    key: Key<M>,
    options?: Omit<FindOptions<Attributes<M>>, 'where'>,
  ): Promise<M | null> {
    const isOwn = model.sequelize === this.#sequelize
    const { transaction } = this.#level
    const send = options === undefined && isOwn ? transaction.directSender : undefined
    const read = send && findByKey(model, key)
    if (read) return this.#here.query(read.text, () => transaction.read(read, send))
    return this.#inside(() => {
      this.#refuseForeign(model)
      if (key instanceof Date)
        return model.findOne({ ...options, where: { [model.primaryKeyAttribute]: key } as WhereOptions<Attributes<M>> })
      if (typeof key !== 'object' || Buffer.isBuffer(key)) return model.findByPk(key as string, options)
      refuseOtherThanKey(model, key)
      return model.findOne({ ...options, where: key as NonNullable<FindOptions<Attributes<M>>['where']> })
    })
  }

  /** All rows of a statement. */
  all<M extends Model>({ model, options }: Select<M>): Promise<M[]> {
    return this.#inside(() => {
      this.#refuseForeign(model)
      return model.findAll({ ...options })
    })
  }

  /** The first row of a statement, or null. */
  first<M extends Model>({ model, options }: Select<M>): Promise<M | null> {
    return this.#inside(() => {
      this.#refuseForeign(model)
      return model.findOne({ ...options })
    })
  }

  /** How many rows of the model a statement has. With includes, rows of the model are counted, not of the join. */
  count<M extends Model>(statement: Select<M>): Promise<number> {
    return this.#inside(() => {
      this.#refuseForeign(statement.model)
      return countRows(toFind(statement))
    })
  }

  /** The rows of a text. Its values are bound by the database, never put into the text. */
  execute<Row>(statement: Sql<Row>): Promise<Row[]> {
    const level = this.#here
    return level.query(statement.texts.join('?'), () => level.transaction.rows(statement))
  }

  /** Notes a new or changed instance; {@link flush} writes it, at the latest before COMMIT. Returns the instance. */
  add<M extends Model>(instance: M): M {
    this.#note({ kind: 'save', instance: asModel(instance, 'add') })
    return instance
  }

  /** {@link add} for several. */
  addAll<M extends Model>(instances: readonly M[]): readonly M[] {
    for (const instance of instances) this.add(instance)
    return instances
  }

  /** Notes an instance to be deleted by {@link flush}. */
  delete(instance: Model): void {
    this.#note({ kind: 'delete', instance: asModel(instance, 'delete') })
  }

  #note(change: PendingChange): void {
    const here = this.#here
    here.assertOpen()
    this.#refuseForeign(change.instance.constructor as ModelStatic<Model>)
    here.writer.changes.push(change)
  }

  // Its queries would run in the other database, outside of this transaction.
  #refuseForeign({ name, sequelize }: ModelStatic<Model>): void {
    if (sequelize !== undefined && sequelize !== this.#sequelize) throw new ForeignModelError(name)
  }

  /**
   * Writes what was added and deleted. Of additions in a row, those that others refer to come first; of deletions, last.
   * Afterwards keys and defaults that the database made are on the instances.
   *
   * @throws what the database says, such as UniqueConstraintError; what comes after it stays noted.
   */
  flush(): Promise<void> {
    return this.#inside(() => this.#here.flush())
  }

  /** Reads an instance's columns again. */
  refresh<M extends Model>(instance: M): Promise<M> {
    return this.#inside(() => {
      this.#refuseForeign(instance.constructor as ModelStatic<M>)
      return instance.reload()
    })
  }

  /**
   * Runs the work in a savepoint: when it throws, only the work is undone, and the session goes on. What was added before is written
   * before; what the work adds belongs to the work. Begin the queries that the work awaits inside of it: those begun outside wait for it.
   *
   * @example
   * try {
   *   await session.nested(() => Hero.create(input))
   * } catch (error) {
   *   if (!(error instanceof UniqueConstraintError)) throw error   // the name was taken; what was written before is kept
   * }
   */
  nested<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return this.#here.nested(() => work(this))
  }

  /** Runs the callback once COMMIT has succeeded, before the response; never when it failed or was not tried. Its errors are logged. */
  afterCommit(callback: () => unknown): void {
    this.#level.assertOpen()
    this.#here.callbacks.push(callback)
  }

  /** Answer as usual, but keep nothing. */
  rollback(): void {
    this.#level.assertOpen()
    this.#state.keeps = false
  }
}

howToProvide.write(
  Session,
  `It comes with a database: import { lifespan } from 'sequitur' and write createApp({ lifespan }), ` +
    `or with several databases createApp({ lifespan: [lifespan, other] }).`,
)

function asModel(instance: unknown, method: string): Model {
  if (instance instanceof Model) return instance
  throw new TypeError(
    `session.${method}() takes an instance of a model, got ${instance === null ? 'null' : typeof instance}. Build one: Hero.build({ ... }).`,
  )
}

// An object from a client that names other columns, or none, would find rows that were not asked for.
function refuseOtherThanKey(model: ModelStatic<Model>, key: object): void {
  const [given, needed] = [Object.keys(key).toSorted(), model.primaryKeyAttributes.toSorted()]
  if (given.join() === needed.join()) return
  throw new TypeError(
    `session.get(${model.name}, ...): the key is { ${needed.join(', ')} }, got { ${given.join(', ')} }. ` +
      `By other columns: session.first(select(${model.name}, { where: { ... } })).`,
  )
}

/** What finds a row: its primary key's value, or for a composite key the columns. */
export type Key<M extends Model> =
  | string
  | number
  | bigint
  | Date
  | Buffer
  | { readonly [K in keyof Attributes<M>]?: Attributes<M>[K] }
