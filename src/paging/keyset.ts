import { type Sql, rawSql, sql } from '../db/statements/statement.js'
import type { ColumnCodec, ColumnKind } from './column-codec.js'

/** A column, or an expression, that rows are ordered by. The columns of an order include a primary key; the last one is never NULL. */
export interface OrderColumn {
  /** For ORDER BY and for comparisons. */
  readonly sql: string
  readonly direction: 'ASC' | 'DESC'
  readonly nullable: boolean
  /** Whether NULLs come after all other values, and not before them. */
  readonly nullsLast: boolean
  readonly kind: ColumnKind
  readonly codec: ColumnCodec
}

/** The encoded values of a row's order columns. */
export type Place = readonly (string | null)[]

/** Some of the rows after a place. */
export interface Range {
  readonly condition: Sql
  /** The columns to order by: those that are equal in all of the rows are left out, as MariaDB would sort because of them, and because of NULLs. */
  readonly order: readonly OrderColumn[]
}

/**
 * The rows after a place, as ranges to be read one after the other until a page is full.
 *
 * Each range is one range of an index over the columns. Within it, the database may read and discard rows that are equal to the place in
 * one column more than `shared`, but come before it. If `shared` counts the first columns that are equal in all rows of the previous page,
 * these are at most as many as a page has. The rows are the same for any `shared`.
 *
 * @example
 * // ORDER BY a, b, id; after (1, 2, 3); shared 0:
 * // a >= 1 AND (a > 1 OR (a = 1 AND (b > 2 OR (b = 2 AND id > 3))))
 * // shared 1: the rest of a = 1, then what follows it
 * // a = 1 AND b >= 2 AND (b > 2 OR (b = 2 AND id > 3))
 * // a > 1
 * // on a database that finds rows by row values in an index, for any shared: (a, b, id) > (1, 2, 3)
 */
export function rangesAfter(columns: readonly OrderColumn[], place: Place, shared: number): Range[] {
  const keyset = new Keyset(columns, place)
  const deepest = Math.min(shared, keyset.firstOfRowValue)
  const depths = Array.from({ length: deepest + 1 }, (_, index) => deepest - index)
  return depths.flatMap((depth) => {
    const ranges = depth === deepest ? keyset.within(depth) : keyset.beyond(depth)
    return ranges.map((range, index) => {
      const isOfNulls = place[depth] === null ? depth === deepest && index === 0 : index > 0
      const [first, ...rest] = columns.slice(isOfNulls ? depth + 1 : depth)
      const order = first ? [isOfNulls ? first : { ...first, nullable: false }, ...rest] : []
      return { condition: all([...keyset.equal(depth), range]), order }
    })
  })
}

/** The order from the end of a list to its start. */
export function reversed(columns: readonly OrderColumn[]): OrderColumn[] {
  return columns.map((column) => ({
    ...column,
    direction: column.direction === 'ASC' ? 'DESC' : 'ASC',
    nullsLast: !column.nullsLast,
  }))
}

/** Where a database puts NULLs if ORDER BY does not say it. */
export function nullsLastByDefault({ direction, codec }: Pick<OrderColumn, 'direction' | 'codec'>): boolean {
  return (direction === 'ASC') === codec.nullsHigh
}

/** A column in ORDER BY. */
export function orderSql(column: OrderColumn): string {
  const { sql: expression, direction, nullable, nullsLast, codec } = column
  const ordered = `${expression} ${direction}`
  if (nullsLast === nullsLastByDefault(column)) return ordered
  // Where there is a clause, it also determines which index has this order: also for rows without NULL.
  if (codec.nullsClause) return `${ordered} NULLS ${nullsLast ? 'LAST' : 'FIRST'}`
  return nullable ? `${expression} IS NULL ${nullsLast ? 'ASC' : 'DESC'}, ${ordered}` : ordered
}

/** The rows at one of several places. */
export function atPlaces(columns: readonly OrderColumn[], places: readonly Place[]): Sql {
  const [column] = columns
  if (!column || columns.length > 1)
    return any(places.map((place) => all(new Keyset(columns, place).equal(columns.length))))
  const values = places.flatMap(([value]) => (typeof value === 'string' ? column.codec.decode(value, column.kind) : []))
  return sql`${rawSql(`${column.sql} IN (`)}${joined(values, ', ')}${rawSql(')')}`
}

/** Compares rows with a place. */
class Keyset {
  readonly #columns: readonly OrderColumn[]
  readonly #place: Place

  constructor(columns: readonly OrderColumn[], place: Place) {
    this.#columns = columns
    this.#place = place
  }

  /** The first column from which on a row value compares as the order does: all of one direction, and none of them NULL. */
  get firstOfRowValue(): number {
    const last = this.#columns.length - 1
    const { direction } = this.#columnAt(last)
    const isPart = (column: OrderColumn, index: number) =>
      column.codec.hasRowValues && !column.nullable && column.direction === direction && this.#place[index] !== null
    const lastOther = this.#columns.findLastIndex((column, index) => !isPart(column, index))
    return Math.min(lastOther + 1, last)
  }

  /** The first columns are equal to the place. */
  equal(count: number): Sql[] {
    return Array.from({ length: count }, (_, index) => this.#compare(index, '='))
  }

  /** The ranges where this column comes after the place. NULLs are a separate range, because an index has them at one end. */
  beyond(index: number): Sql[] {
    const { sql: column, direction, nullable, nullsLast } = this.#columnAt(index)
    if (this.#place[index] === null) return nullsLast ? [] : [rawSql(`${column} IS NOT NULL`)]
    const after = this.#compare(index, direction === 'ASC' ? '>' : '<')
    return nullable && nullsLast ? [after, rawSql(`${column} IS NULL`)] : [after]
  }

  /** The ranges where this column and the following ones come after the place. */
  within(index: number): Sql[] {
    if (index === this.#columns.length - 1) return this.beyond(index)
    if (index === this.firstOfRowValue) return [this.#rowValueAfter(index)]
    const ties = all([this.#compare(index, '='), this.#after(index + 1)])
    if (this.#place[index] === null) return [ties, ...this.beyond(index)]
    const [after, ...nulls] = this.beyond(index)
    // From the bound a database knows where to start in an index: with only the alternatives, PostgreSQL reads it from its start.
    return [all([this.#bound(index), any(after ? [after, ties] : [ties])]), ...nulls]
  }

  #after(index: number): Sql {
    if (index === this.#columns.length - 1) return any(this.beyond(index))
    const later = any([...this.beyond(index), all([this.#compare(index, '='), this.#after(index + 1)])])
    const { nullable, nullsLast } = this.#columnAt(index)
    const bounded = this.#place[index] !== null && !(nullable && nullsLast)
    return bounded ? all([this.#bound(index), later]) : later
  }

  #rowValueAfter(index: number): Sql {
    const columns = this.#columns.slice(index)
    const names = columns.map(({ sql: column }) => column).join(', ')
    const values = columns.map(({ kind, codec }, at) => codec.decode(this.#place[index + at] as string, kind)) // no NULL: see firstOfRowValue
    const operator = this.#columnAt(index).direction === 'ASC' ? '>' : '<'
    return sql`${rawSql(`(${names}) ${operator} (`)}${joined(values, ', ')}${rawSql(')')}`
  }

  #bound(index: number): Sql {
    return this.#compare(index, this.#columnAt(index).direction === 'ASC' ? '>=' : '<=')
  }

  #compare(index: number, operator: string): Sql {
    const { sql: column, kind, codec } = this.#columnAt(index)
    const value = this.#place[index]
    if (value === null || value === undefined) return rawSql(`${column} IS NULL`)
    return sql`${rawSql(`${column} ${operator} `)}${codec.decode(value, kind)}`
  }

  #columnAt(index: number): OrderColumn {
    return this.#columns[index] as OrderColumn // within the order by construction
  }
}

function all(conditions: readonly Sql[]): Sql {
  return joined(conditions, ' AND ')
}

function any(conditions: readonly Sql[]): Sql {
  return conditions.length === 1 ? all(conditions) : sql`(${joined(conditions, ' OR ')})`
}

function joined(parts: readonly Sql[], separator: string): Sql {
  const texts = ['']
  const values: unknown[] = []
  for (const [index, part] of parts.entries()) {
    const [first = '', ...rest] = part.texts
    texts[texts.length - 1] += index === 0 ? first : separator + first
    texts.push(...rest)
    values.push(...part.values)
  }
  return { kind: 'sql', texts, values }
}
