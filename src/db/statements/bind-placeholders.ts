import { randomBytes } from 'node:crypto'
import { literal } from 'sequelize'
import { escapeDollars } from '../sequelize/quote.js'
import type { Sql } from './statement.js'

/*
 * Sequelize writes the values of find options into the SQL. A condition whose values must be sent as parameters is given to Sequelize with a
 * marker for each value. Markers contain random bytes, so that no client can write one. When the query is executed
 * (session/join-current-transaction.ts), they are replaced by the placeholders of the database.
 */

const MARKER = `sequitur_${randomBytes(12).toString('hex')}_`
const MARKERS = new RegExp(`${MARKER}(\\d+)_`, 'g')
const VALUES = Symbol('bound values')

interface WithValues {
  readonly [VALUES]?: readonly unknown[]
}

/** A condition for the `where` of find options, and the options to spread next to it. */
export function toCondition({ texts, values }: Sql<unknown>): {
  readonly condition: ReturnType<typeof literal>
  readonly options: object
} {
  const [first = '', ...rest] = texts
  const sql = rest.reduce((before, after, index) => `${before}${MARKER}${index}_${after}`, first)
  return { condition: literal(sql), options: { [VALUES]: values } satisfies WithValues }
}

/** The query with placeholders instead of markers, and with their values in `bind`. */
export function bindValues<O extends object>(
  sql: unknown,
  options: (O & WithValues) | undefined,
): { readonly sql: unknown; readonly options: O | undefined } {
  const values = options?.[VALUES]
  if (!values || values.length === 0 || typeof sql !== 'string') return { sql, options }
  const bind: unknown[] = []
  const withPlaceholders = escapeDollars(sql).replace(
    MARKERS,
    (_, index: string) => `$${bind.push(values[Number(index)])}`,
  )
  return { sql: withPlaceholders, options: { ...options, bind } }
}
