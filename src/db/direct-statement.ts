import type { Model, ModelStatic } from 'sequelize'
import type { StatementFacts } from './sql/shape.js'

/*
 * Statements that are sent to the driver without Sequelize, and their answers.
 */

/** A driver's answer to a statement. */
export interface DirectResult {
  readonly rows: unknown[]
  /** The key that the database has generated, if it does not return the new row. */
  readonly insertedKey?: unknown
  /** The rows of a model, if the driver does not convert values by the types of their columns. */
  rowsOf?(model: ModelStatic<Model>): unknown[]
}

/**
 * The known form of a statement, in addition to its SQL. Undefined if nothing is known: it may be several statements, or none that the database can parse.
 *
 * - `constant`: its literals are the same at every execution, so that preparing it pays if it has values.
 * - `covered`: so they are, and its result has all columns that its values are compared with, or written to.
 * - `count`: a compiled count. Preparing it pays off even without values, and never fails, because its column always has the same type.
 * - `slice`: a compiled read of some rows of a list, whose first and last are literals.
 * - `varying`: its literals differ.
 */
export type StatementForm = 'constant' | 'covered' | 'count' | 'slice' | 'varying'

/** Sends a statement to the driver, which calls `done`. */
export type SendDirect = (
  connection: unknown,
  sql: string,
  /** Undefined for SQL of the program without placeholders, which may be several statements. */
  values: readonly unknown[] | undefined,
  done: (error: Error | null, result: DirectResult) => void,
  form?: StatementForm,
  /** See {@link CompiledStatement.readsAlone}. */
  readsAlone?: boolean,
) => void

/** SQL that Sequelize has generated for statements that differ in nothing but their values. */
export interface GeneratedStatement {
  readonly sql: string
  /** What counters of statements know of them; undefined until one is counted. */
  facts: StatementFacts | undefined
}

/** A statement whose SQL was generated before. */
export interface CompiledStatement<T> {
  /** With its literals. */
  readonly sql: string
  readonly generated: GeneratedStatement
  readonly values: readonly unknown[]
  readonly form: StatementForm
  /** Whether it reads the same rows in a transaction and outside of one, where each statement of a transaction has a snapshot of its own. */
  readonly readsAlone?: boolean | undefined
  /** The instance that is written; the database's error names it. */
  readonly instance?: Model
  /** Converts the driver's rows. */
  read(result: DirectResult): T
}

/** The callbacks for the outcome of a statement: one of both is called. */
export interface Settle<T> {
  resolve(value: T): void
  reject(error: unknown): void
  /** Called before, with the rows as the driver returned them. */
  received?(result: DirectResult): void
}
