import type { Model } from 'sequelize'
import type { Session } from '../../db/session/session.js'
import type { Select, Sql } from '../../db/statements/statement.js'
import type { Constructor, Yields } from '../../di/token.js'
import type { Page, PageMeta } from '../page.js'
import type { AnyStatement, DatabaseOptions, SizeOptions } from '../paginator.js'

/** A paginator: reads the page of a statement that the client requested. `T` is the type of the page's rows, `P` of its `meta`. */
export interface PaginateType<T, P = PageMeta> {
  // One signature: of several, the compiler reports only the last one's mistake, that a Select is no Sql.
  <S extends AnyStatement>(statement: S & StatementOf<S, T>): Promise<Page<T, P>>
}

type StatementOf<S, T> =
  S extends Select<infer M>
    ? M extends T
      ? unknown
      : Select<Model & T>
    : S extends Sql<infer Row>
      ? RowsOf<Row, T>
      : never

// Rows of an undeclared type, as of sql`...` without a type argument, are only checked at run time, against the response.
type RowsOf<Row, T> = string extends keyof Row ? unknown : Row extends T ? unknown : Sql<T>

/** The token of a paginator: a parameter's type, a base class, or the argument of `@Inject`. */
// any: the type of the rows is given where a paginator is injected, Paginate<HeroModel>.
// oxlint-disable typescript/no-explicit-any
export interface PaginationToken<P = PageMeta> extends Yields<PaginateType<any, P>> {
  new <T = any>(): PaginateType<T, P>
}
// oxlint-enable typescript/no-explicit-any

/** The page sizes and the database of a paginator whose lists are not counted: its pages say whether there is a next one. */
export interface UncountedPaginationOptions extends SizeOptions, DatabaseOptions {
  readonly count: false
}

/** The page sizes, the database, and the count of a paginator. */
export interface PaginationOptions extends SizeOptions, DatabaseOptions {
  /**
   * The number of all rows, for when something is faster than COUNT: an estimate, a cache. A class is injected. It is not called if the rows
   * of the page show the total. A number that is less than the rows up to the end of the page is raised to that.
   */
  readonly count?: CountRows | Constructor<{ count: CountRows }>
  /**
   * The database counts no more than so many rows. In a longer list, `total_items` is one more, or the end of the page if that is further, and there is no link
   * to the last page. Not together with `count`.
   */
  readonly countUpTo?: number
}

type CountRows = (session: Session, statement: AnyStatement) => number | Promise<number>

/** The records of a page, made of its rows: of each by `map`, or of all by `mapPage`. A class is injected. */
export type RowMapping<Row, T> =
  | { readonly map: MapRow<Row, T> | Constructor<{ map: MapRow<Row, T> }>; readonly mapPage?: never }
  | { readonly mapPage: MapPage<Row, T> | Constructor<{ mapPage: MapPage<Row, T> }>; readonly map?: never }

type MapRow<Row, T> = (row: Row) => T | Promise<T>
type MapPage<Row, T> = (rows: Row[]) => T[] | Promise<T[]>

/** The options of a paginator whose pages contain what `map` returns for each row, or `mapPage` for all. */
export type MappedPaginationOptions<Row, T> = PaginationOptions & RowMapping<Row, T>

/** A paginator that maps its rows. */
export interface MappedPaginate<Row, T, P = PageMeta> {
  (statement: Sql<Row>): Promise<Page<T, P>>
  <M extends Model>(statement: Row extends M ? Select<M> : M extends Row ? Select<M> : never): Promise<Page<T, P>>
}

/** The token of a paginator that maps its rows. */
export interface MappedPaginationToken<Row, T, P = PageMeta> extends Yields<MappedPaginate<Row, T, P>> {
  new (): MappedPaginate<Row, T, P>
}
