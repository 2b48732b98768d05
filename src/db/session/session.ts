import { type Attributes, type FindOptions, Model, type ModelStatic, type Sequelize, type Transaction } from 'sequelize'
import { howToProvide } from '../../di/provider.js'
import { ForeignModelError } from '../errors.js'
import { modelOf } from '../sequelize/internals.js'
import { withBindableValues } from '../statements/bindable-values.js'
import { refuseSecondStatement, requireKind } from '../statements/check-statement.js'
import { countRows } from '../statements/count.js'
import { toFind } from '../statements/find.js'
import { findByKey, type Key } from '../statements/find-by-key.js'
import type { Select, Sql } from '../statements/statement.js'
import { currentScope, enterScope } from './current-scope.js'
import type { PendingChange } from './foreign-key-order.js'
import type { LastWork } from './last-work.js'
import { assertUsable } from './ownership.js'
import { inSavepoint } from './savepoint.js'
import type { TransactionScope } from './transaction-scope.js'
import type { CompiledStatement } from '../direct-statement.js'
import { allStatement, countStatement, firstStatement, keyStatement } from '../fast-path/fast-path.js'

/** The session of this database in the current asynchronous context. */
export function currentSession(sequelize: Sequelize): Session | undefined {
  const session = currentScope(sequelize)?.transaction.session
  return session instanceof Session ? session : undefined
}

/**
 * The database session of one request or job: one transaction, committed when the handler returns, rolled back when it throws.
 * Queries of models join it automatically.
 *
 * @example
 * @Get('/:hero_id', Item.of(HeroModel))
 * async get(hero_id: number, session: Session) {
 *   return { data: (await session.get(Hero, hero_id)) ?? notFound('Hero not found') }
 * }
 */
export class Session {
  readonly #scope: TransactionScope

  /** @internal Write a parameter of type Session, or call withSession(). */
  constructor(scope: TransactionScope) {
    this.#scope = scope
  }

  /** Sequelize's transaction, for calls that the session has no method for. @throws SessionClosedError after the end of the session. */
  get transaction(): Transaction {
    this.#scope.assertOpen()
    return this.#scope.transaction.give()
  }

  /** The Sequelize instance of this session's database. */
  get sequelize(): Sequelize {
    return this.#scope.sequelize
  }

  /** @internal Whose rows it reaches, by the boundary of its database: what is kept for later requests is kept only for this owner. */
  get owner(): string | undefined {
    return this.#scope.transaction.boundary?.owner()
  }

  /** @internal Has it committed after the sessions of other databases: what it has written says that their work was done. */
  commitLast(): void {
    this.#scope.transaction.commitsLast = true
  }

  /**
   * @internal Queues an item of work that is executed immediately before COMMIT; never if the transaction, or the savepoint that this is called in, is rolled
   * back. Where the database can, its statements are one message with COMMIT.
   *
   * @throws SessionClosedError after the end of the session.
   */
  addLast<T>(work: LastWork<T>, item: T): void {
    const scope = this.#innerScope
    scope.assertOpen()
    scope.addLast(work, [item])
  }

  /** @internal Ends it without waiting for the database, which does not answer: its connection is closed, and what waits for an answer fails. */
  abandon(): void {
    this.#scope.transaction.close('rolled back')
    this.#scope.transaction.closeConnection()
  }

  /**
   * @internal Called by paginators before the statements of a page: all following queries read one snapshot (REPEATABLE READ), if the transaction has not
   * started yet and no isolation level was requested, as rows and COUNT must match. Returns the scope that queries of models join in the current
   * asynchronous context; undefined if it is not one of this session.
   */
  openPage(): TransactionScope | undefined {
    const { transaction, sequelize } = this.#scope
    transaction.readOneSnapshot()
    const scope = currentScope(sequelize)
    return scope?.transaction === transaction ? scope : undefined
  }

  // In nested() the scope of the savepoint. The session's own scope would make its queries wait until the savepoint is closed.
  get #innerScope(): TransactionScope {
    const scope = currentScope(this.#scope.sequelize)
    return scope?.transaction === this.#scope.transaction ? scope : this.#scope
  }

  // The asynchronous context may have been lost, or be that of another session: queries of this session join its own transaction anyway.
  #inside<T>(work: (scope: TransactionScope) => Promise<T>): Promise<T> {
    const current = currentScope(this.#scope.sequelize)
    const isInside = current?.transaction === this.#scope.transaction
    const scope = isInside ? current : this.#scope
    try {
      scope.assertOpen()
      if (isInside) return work(scope)
      scope.transaction.assertOnlyConnection()
      return enterScope(scope, () => work(scope))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * The row with this primary key, or null. Write a composite key as an object with a value for each of its columns.
   * The key `null` finds no row.
   *
   * @throws TypeError for an object that does not have exactly the columns of the primary key.
   * @example
   * await session.get(Hero, 7)
   * await session.get(Membership, { team_id: 3, hero_id: 7 })
   */
  get<M extends Model>(
    model: ModelStatic<M>,
    key: Key<M>,
    options?: Omit<FindOptions<Attributes<M>>, 'where'>,
  ): Promise<M | null> {
    const found = options === undefined ? this.#innerScope.read(model, () => keyStatement(model, key)) : undefined
    if (found) return found
    return this.#inside(() => {
      this.#refuseForeign(model)
      return findByKey(model, key, options)
    })
  }

  // The program may pass anything, such as sql`...`.
  #compiled<M extends Model, T>(
    statement: Select<M>,
    compile: (statement: Select<M>) => CompiledStatement<T> | undefined,
  ): Promise<T> | undefined {
    if (statement?.kind !== 'select') return undefined
    return this.#innerScope.read(statement.model, () => compile(statement))
  }

  /** All rows of a statement. */
  all<M extends Model>(statement: Select<M>): Promise<M[]> {
    const compiled = this.#compiled(statement, allStatement<M>)
    if (compiled) return compiled
    return this.#inside(() => {
      requireKind(statement, 'select', 'all')
      const { model, options } = statement
      this.#refuseForeign(model)
      return model.findAll({ ...options })
    })
  }

  /** The first row of a statement, or null. */
  first<M extends Model>(statement: Select<M>): Promise<M | null> {
    const compiled = this.#compiled(statement, firstStatement<M>)
    if (compiled) return compiled
    return this.#inside(() => {
      requireKind(statement, 'select', 'first')
      const { model, options } = statement
      this.#refuseForeign(model)
      return model.findOne({ ...options })
    })
  }

  /** The number of rows of the model in the result of a statement. A row that includes join to several others counts once. */
  count<M extends Model>(statement: Select<M>): Promise<number> {
    const compiled = this.#compiled(statement, countStatement)
    if (compiled) return compiled
    return this.#inside(() => {
      requireKind(statement, 'select', 'count')
      this.#refuseForeign(statement.model)
      return countRows(toFind(statement))
    })
  }

  /**
   * Executes raw SQL and returns its rows. Its values are sent as parameters, apart from the SQL.
   *
   * @throws TypeError for a value that cannot be bound, and on SQLite for a second statement, which it would not execute.
   * @example
   * await session.execute(sql<{ name: string }>`SELECT name FROM hero WHERE age > ${age}`)
   */
  execute<Row>(statement: Sql<Row>): Promise<Row[]> {
    return this.#execute(statement, (text) => this.#innerScope.assertWithinBoundary(text))
  }

  /** @internal As {@link execute}, for SQL of this package about a table of its own: a boundary limits the SQL of programs. */
  executeOwn<Row>(statement: Sql<Row>): Promise<Row[]> {
    const { observer, tables } = this.#scope.transaction
    return this.#execute(observer || tables ? { ...statement, isOwn: true } : statement, () => {})
  }

  #execute<Row>(statement: Sql<Row>, assertAllowed: (text: string) => void): Promise<Row[]> {
    const scope = this.#innerScope
    try {
      requireKind(statement, 'sql', 'execute')
      refuseSecondStatement(statement, this.sequelize.getDialect())
      const bindable = withBindableValues(statement, this.sequelize)
      const text = statement.texts.join('?')
      assertAllowed(text)
      return scope.query(text, () => scope.transaction.rows(bindable), bindable)
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /** Queues a new or changed instance, which {@link flush}, called before COMMIT, saves. Returns the instance. */
  add<M extends Model>(instance: M): M {
    this.#queue({ kind: 'save', instance: requireInstance(instance, 'add') })
    return instance
  }

  /** Calls {@link add} for each instance. */
  addAll<M extends Model>(instances: readonly M[]): readonly M[] {
    for (const instance of instances) this.add(instance)
    return instances
  }

  /** Queues an instance, which {@link flush}, called before COMMIT, deletes. */
  delete(instance: Model): void {
    this.#queue({ kind: 'delete', instance: requireInstance(instance, 'delete') })
  }

  #queue(change: PendingChange): void {
    const scope = this.#innerScope
    scope.assertOpen()
    this.#refuseForeign(modelOf(change.instance))
    assertUsable(change.instance, scope.transaction)
    scope.changes.add(change)
  }

  // Its queries would be sent to the other database, outside this transaction.
  #refuseForeign({ name, sequelize }: ModelStatic<Model>): void {
    if (sequelize !== undefined && sequelize !== this.#scope.sequelize) throw new ForeignModelError(name)
  }

  /**
   * Executes the queued changes. Of consecutive additions, rows that others refer to are written first; of consecutive deletions, last.
   * Afterwards the instances have the keys and defaults that the database generated.
   *
   * @throws the database's error, such as UniqueConstraintError. The change that failed is dropped; those after it stay queued.
   */
  flush(): Promise<void> {
    return this.#inside((scope) => scope.flush())
  }

  /** Reads the columns of an instance again. Returns the instance. */
  refresh<M extends Model>(instance: M): Promise<M> {
    return this.#inside(() => {
      this.#refuseForeign(modelOf(instance))
      assertUsable(instance)
      return instance.reload()
    })
  }

  /**
   * Runs the work in a savepoint: when it throws, only its changes are rolled back, and the session continues. Changes queued before are flushed
   * before; those that the work queues belong to the savepoint. Start the queries that the work awaits inside the work: queries started outside
   * wait until the savepoint is closed.
   *
   * @example
   * try {
   *   await session.nested(() => Hero.create(input))
   * } catch (error) {
   *   if (!(error instanceof UniqueConstraintError)) throw error   // the name exists already; earlier changes are kept
   * }
   */
  nested<T>(work: (session: Session) => Promise<T>): Promise<T> {
    return inSavepoint(this.#innerScope, () => work(this))
  }

  /** Runs the callback after COMMIT, before the response; never if the transaction was rolled back. Errors of the callback are logged. */
  afterCommit(callback: () => unknown): void {
    this.#scope.assertOpen()
    this.#innerScope.afterCommit.push(this.#keepContext(callback))
  }

  /**
   * Runs the work in a session of its own when this one has ended, committed or rolled back, before the response: for an audit entry that must be
   * kept although the handler fails. When the handler is run again, only what its last run queued is run. Errors of the work are logged.
   *
   * @example
   * session.afterEnd(() => Attempt.create({ account, at: new Date() }))
   */
  afterEnd(work: (session: Session) => Promise<unknown>): void {
    this.#scope.assertNotEnded()
    const run = () => work(currentSession(this.sequelize) as Session) // it runs in one
    this.#scope.transaction.afterEnd.push(this.#keepContext(run))
  }

  /**
   * Runs the work in a session of its own when the response is sent, or its client is gone; never if the transaction was rolled back. For what a client need
   * not wait for: an e-mail, a cache, a statistic. A stop of the app waits for it, within the time for running requests; **a crash loses it**. Errors of the
   * work are logged. In a session outside of requests, it runs before {@link withSession} returns.
   *
   * @example
   * session.afterResponse(async (later) => {
   *   await mailer.welcome(account.email)
   *   later.add(Mail.build({ account: account.id }))
   * })
   */
  afterResponse(work: (session: Session) => Promise<unknown>): void {
    this.#scope.assertOpen()
    const run = () => work(currentSession(this.sequelize) as Session) // it runs in one
    this.#innerScope.afterResponse.push(this.#keepContext(run))
  }

  #keepContext<T>(work: () => T): () => T {
    return this.#scope.transaction.boundary?.keepContext(work) ?? work
  }

  /** @internal Whether {@link rollback} was called: nothing of the session is saved. */
  get isRollingBack(): boolean {
    return this.#scope.transaction.rollbackRequested
  }

  /** Rolls the transaction back when the handler returns. The handler's result is sent as usual. */
  rollback(): void {
    this.#scope.assertOpen()
    this.#scope.transaction.rollbackRequested = true
  }
}

howToProvide.write(
  Session,
  `An app with a database provides it: import { lifespan } from 'sequitur' and write createApp({ lifespan }), ` +
    `or with several databases createApp({ lifespan: [lifespan, other] }).`,
)

function requireInstance(instance: unknown, method: string): Model {
  if (instance instanceof Model) return instance
  throw new TypeError(
    `session.${method}() takes an instance of a model, got ${instance === null ? 'null' : typeof instance}. Build one: Hero.build({ ... }).`,
  )
}
