import { type Sql, rawSql, sql } from '../db/statements/statement.js'
import type { ColumnType, ColumnCodec } from './column-codec.js'

/** A column that rows are ordered by. The last one of an order is never NULL and completes a key. */
export interface OrderColumn {
  /** As it stands in ORDER BY and in comparisons. */
  readonly sql: string
  readonly direction: 'ASC' | 'DESC'
  readonly nullable: boolean
  readonly type: ColumnType
}

/** The values of a row's order columns, as the database wrote them. */
export type Place = readonly (string | null)[]

/** A part of what comes after a place. */
export interface Range {
  readonly condition: Sql
  /** The columns that its rows are ordered by: without those that are the same in all, for whose sake MariaDB would sort. */
  readonly order: readonly OrderColumn[]
}

/**
 * The conditions for what comes after a place. Read one after the other, until a page is full, they give all later rows in order.
 *
 * Each is one range of an index over the columns, apart from rows that are equal to the place in one column more than `shared`:
 * of these, all that come before the place are read and thrown away. When the first `shared` columns do not change within a page,
 * these are at most the rows of that page. Any `shared` gives the same rows.
 *
 * @example
 * // a, b, id after (1, 2, 3), shared 0:
 * // a >= 1 AND (a > 1 OR (a = 1 AND (b > 2 OR (b = 2 AND id > 3))))
 * // shared 1: the rest of a = 1, then what lies beyond
 * // a = 1 AND b >= 2 AND (b > 2 OR (b = 2 AND id > 3))
 * // a > 1
 */
export function rangesAfter(
  columns: readonly OrderColumn[],
  place: Place,
  shared: number,
  notation: ColumnCodec,
): Range[] {
  const keyset = new Keyset(columns, place, notation)
  const deepest = Math.min(shared, columns.length - 1)
  const depths = Array.from({ length: deepest + 1 }, (_, index) => deepest - index)
  return depths.flatMap((depth) => {
    const ranges = depth === deepest ? keyset.within(depth) : keyset.beyond(depth)
    return ranges.map((range, index) => {
      const isOfNulls = place[depth] === null ? depth === deepest && index === 0 : index > 0
      return { condition: all([...keyset.equal(depth), range]), order: columns.slice(isOfNulls ? depth + 1 : depth) }
    })
  })
}

/** The rows at one of several places. */
export function atPlaces(columns: readonly OrderColumn[], places: readonly Place[], notation: ColumnCodec): Sql {
  const [column] = columns
  if (column && columns.length === 1) {
    const values = places.map(([value]) => notation.read(value as string, column.type)) // a key is not NULL
    return sql`${rawSql(`${column.sql} IN (`)}${joined(values, ', ')}${rawSql(')')}`
  }
  return any(places.map((place) => all(new Keyset(columns, place, notation).equal(columns.length))))
}

class Keyset {
  readonly #columns: readonly OrderColumn[]
  readonly #place: Place
  readonly #notation: ColumnCodec

  constructor(columns: readonly OrderColumn[], place: Place, notation: ColumnCodec) {
    this.#columns = columns
    this.#place = place
    this.#notation = notation
  }

  /** That the first columns are equal to the place. */
  equal(count: number): Sql[] {
    return Array.from({ length: count }, (_, index) => this.#compare(index, '='))
  }

  /** The ranges where this column comes after the place: NULLs in a range of their own, as an index has them at one end. */
  beyond(index: number): Sql[] {
    const { sql: column, direction, nullable } = this.#columnAt(index)
    const nullsLast = this.#nullsLast(index)
    if (this.#place[index] === null) return nullsLast ? [] : [rawSql(`${column} IS NOT NULL`)]
    const after = this.#compare(index, direction === 'ASC' ? '>' : '<')
    return nullable && nullsLast ? [after, rawSql(`${column} IS NULL`)] : [after]
  }

  /** The ranges where this column and those that follow come after the place. */
  within(index: number): Sql[] {
    if (index === this.#columns.length - 1) return this.beyond(index)
    const ties = all([this.#compare(index, '='), this.#after(index + 1)])
    if (this.#place[index] === null) return [ties, ...this.beyond(index)]
    const [after, ...nulls] = this.beyond(index) as [Sql, ...Sql[]] // a value has a range after it
    // The bound is what a database finds in an index: from the alternatives alone PostgreSQL reads the index from its start.
    return [all([this.#bound(index), any([after, ties])]), ...nulls]
  }

  #after(index: number): Sql {
    if (index === this.#columns.length - 1) return any(this.beyond(index))
    const later = any([...this.beyond(index), all([this.#compare(index, '='), this.#after(index + 1)])])
    const bounded = this.#place[index] !== null && !(this.#columnAt(index).nullable && this.#nullsLast(index))
    return bounded ? all([this.#bound(index), later]) : later
  }

  #bound(index: number): Sql {
    return this.#compare(index, this.#columnAt(index).direction === 'ASC' ? '>=' : '<=')
  }

  #compare(index: number, operator: string): Sql {
    const { sql: column, type } = this.#columnAt(index)
    const value = this.#place[index]
    if (value === null || value === undefined) return rawSql(`${column} IS NULL`)
    return sql`${rawSql(`${column} ${operator} `)}${this.#notation.read(value, type)}`
  }

  #nullsLast(index: number): boolean {
    return (this.#columnAt(index).direction === 'ASC') === this.#notation.nullsHigh
  }

  #columnAt(index: number): OrderColumn {
    return this.#columns[index] as OrderColumn // within the order by construction
  }
}

function all(conditions: readonly Sql[]): Sql {
  return joined(conditions, ' AND ')
}

function any(conditions: readonly Sql[]): Sql {
  return conditions.length === 1 ? (conditions[0] as Sql) : sql`(${joined(conditions, ' OR ')})`
}

function joined([first, ...rest]: readonly Sql[], word: string): Sql {
  const { texts, values } = first as Sql // never of nothing
  const [allTexts, allValues] = [[...texts], [...values]]
  for (const {
    texts: [text = '', ...more],
    values,
  } of rest) {
    allTexts[allTexts.length - 1] += word + text
    allTexts.push(...more)
    allValues.push(...values)
  }
  return { kind: 'sql', texts: allTexts, values: allValues }
}
