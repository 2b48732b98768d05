import type { Model, ModelStatic, Sequelize } from 'sequelize'
import type { RouteFacts } from '../di/route-facts.js'

/**
 * Limits what the statements of a database may reach, by the unit of work that they belong to: the option `boundary` of newLifespan(). This file
 * does not know what the limit is; src/tenancy derives one from the tenant of a request.
 */
export interface Boundary {
  /** Columns that every statement of their tables is limited by, so that an index may begin with them. */
  readonly columns?: readonly string[]
  /** Called once the models are mapped, before the first statement. */
  prepare(sequelize: Sequelize, models: readonly ModelStatic<Model>[]): void
  /**
   * Called once the tables fit the models.
   *
   * @param warn receives warnings about limited tables that reveal rows beyond the limits.
   * @throws BootError for a database that the boundary cannot limit.
   */
  check(sequelize: Sequelize, warn?: (line: string) => void): Promise<void>
  /**
   * Called while the app runs, now and then: whether the database still has the limits that `check` has found.
   *
   * @throws BootError if it has not.
   */
  checkAgain?(sequelize: Sequelize): Promise<void>
  /**
   * Statements that the database lacks for `check` to pass, with the model of each. Those of a table that does not exist yet can be executed once it does. Called
   * by `sequitur migrate diff`.
   */
  missingStatements?(sequelize: Sequelize): Promise<readonly BoundaryStatement[]>
  /** Called when the database is open: statements are limited from now on. */
  enforce(sequelize: Sequelize): void
  /** The limits of each run of a handler, from its request; without a request, those of a session outside of requests. Called when the app is built. */
  ofRoute(sequelize: () => Sequelize, route: RouteFacts): (request: object | undefined) => UnitBoundary
  /** Called in place of the former for each request of a route without a transaction. */
  enterRequest(): void
  /** The limits of a session outside of requests. */
  ofJob(sequelize: Sequelize): UnitBoundary
  /** Runs the work for an owner, as `UnitBoundary.owner()` has named it: sessions that it opens reach only the rows of this owner. */
  runAs<T>(owner: string, work: () => T): T
  /** The limits of statements that belong to no session. */
  outside(sequelize: Sequelize): UnitBoundary
}

/** A statement that changes the table of a model. */
export interface BoundaryStatement {
  readonly model: ModelStatic<Model>
  /** Without a semicolon at its end. */
  readonly sql: string
}

/** The limits of one unit of work. */
export interface UnitBoundary {
  /**
   * Called once for each connection that the unit takes, before it is taken: the statements that are sent together with BEGIN, separated by
   * semicolons, on databases that have settings of a transaction. They end with the transaction.
   */
  settings(): string | undefined
  /** Whose rows the unit reaches, as text; undefined for no owner in particular. What is kept for later requests is kept only for this owner. */
  owner(): string | undefined
  /** Called with each statement that is sent as it is, of Sequelize or of the program. @throws to refuse it. */
  assertStatement(sql: string): void
  /** Whether compiled statements of the model, which do not pass Sequelize's generator, are within the limits. @throws to refuse the statement. */
  allowsCompiled(model: ModelStatic<Model>, kind: 'read' | 'write'): boolean
  /** Whose rows of the model a request reaches. Undefined if it is not limited, and for the limits that a program has set itself. */
  rowOwner(model: ModelStatic<Model>): string | undefined
  /** Whose rows of a table a statement of the calling code reaches; undefined for those of all. @param table in lower case, without its schema. */
  ownerIn(table: string): string | undefined
  /** The work of a callback of the unit, which runs when the unit has ended, with the limits that the program has set itself now. */
  keepContext<T>(work: () => T): () => T
}
