import type { Model } from 'sequelize'
import type { Session } from '../../db/session/session.js'
import type { Select, Sql } from '../../db/statements/statement.js'
import type { Yields } from '../../di/token.js'
import type { SizeOptions } from '../limits.js'
import type { Page } from '../page.js'
import type { DatabaseOptions } from '../paginator-session.js'

/** A paginator: reads the page of a statement that the client requested. `T` is the type of the page's rows. */
export interface PaginateType<T> {
  <M extends Model & T>(statement: Select<M>): Promise<Page<T>>
  <Row>(statement: Sql<Row> & RowsOf<Row, T>): Promise<Page<T>>
}

// Rows of an undeclared type, as of sql`...` without a type argument, are only checked at run time, against the response.
type RowsOf<Row, T> = string extends keyof Row ? unknown : Row extends T ? unknown : Sql<T>

/** The token of a paginator: a parameter's type, a base class, or the argument of `@Inject`. */
// any: the type of the rows is given where a paginator is injected, Paginate<HeroModel>.
// oxlint-disable typescript/no-explicit-any
export interface PaginationToken extends Yields<PaginateType<any>> {
  new <T = any>(): PaginateType<T>
}
// oxlint-enable typescript/no-explicit-any

export type AnyStatement = Select<Model> | Sql<unknown>

/** The page sizes, the database, and the count of a paginator. */
export interface PaginationOptions extends SizeOptions, DatabaseOptions {
  /** The number of all rows, for when something is faster than COUNT: an estimate, a cache. */
  readonly count?: (session: Session, statement: AnyStatement) => number | Promise<number>
}

/** The options of a paginator whose pages contain what `map` returns for each row. */
export interface MappedPaginationOptions<Row, T> extends PaginationOptions {
  readonly map: (row: Row) => T | Promise<T>
}

/** A paginator that maps its rows. */
export interface MappedPaginate<Row, T> {
  (statement: Sql<Row>): Promise<Page<T>>
  <M extends Model>(statement: Row extends M ? Select<M> : M extends Row ? Select<M> : never): Promise<Page<T>>
}

/** The token of a paginator that maps its rows. */
export interface MappedPaginationToken<Row, T> extends Yields<MappedPaginate<Row, T>> {
  new (): MappedPaginate<Row, T>
}
