import { randomBytes } from 'node:crypto'
import { literal } from 'sequelize'
import { escapeDollars } from '../sequelize/quote.js'
import type { Sql } from './statement.js'

/*
 * Sequelize writes the values of find options into the text of the query. Values that must travel apart from it stand in the text as
 * marks, which nobody outside of this process can know; the ambient query (ambient.ts) replaces them by the placeholders of the database.
 */

const MARK = `sequitur_${randomBytes(12).toString('hex')}_`
const MARKS = new RegExp(`${MARK}(\\d+)_`, 'g')
const VALUES = Symbol('bound values')

interface Bound {
  readonly [VALUES]?: readonly unknown[]
}

/** A condition for the `where` of find options, and what to spread into these options beside it. */
export function toCondition({ texts, values }: Sql<unknown>): {
  readonly condition: ReturnType<typeof literal>
  readonly options: object
} {
  const [first = '', ...rest] = texts
  const text = rest.reduce((text, next, index) => `${text}${MARK}${index}_${next}`, first)
  return { condition: literal(text), options: { [VALUES]: values } satisfies Bound }
}

/** A query with the placeholders of the database where marks stand in it. */
export function withBoundValues(
  sql: unknown,
  options: object | undefined,
): { readonly sql: unknown; readonly options: object | undefined } {
  const values = (options as Bound | undefined)?.[VALUES]
  if (!values || values.length === 0 || typeof sql !== 'string') return { sql, options }
  const bind: unknown[] = []
  const text = escapeDollars(sql).replace(MARKS, (_, index: string) => `$${bind.push(values[Number(index)])}`)
  return { sql: text, options: { ...options, bind } }
}
