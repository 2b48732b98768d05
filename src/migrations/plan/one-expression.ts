import type { DatabaseKind } from '../../db/catalog/catalog.js'
import { tokensOf } from '../../db/sql/lexer.js'

/**
 * Whether a text is one expression of SQL, as far as its quotes, parentheses and comments say: nothing of it may be the end of the statement that it is written
 * into, or hide the rest of it, such as its condition.
 */
export function isOneExpression(kind: DatabaseKind, sql: string): boolean {
  let depth = 1
  let plain = 0
  // A quote without an end would have the last parenthesis in it.
  for (const { kind: token, start, end } of tokensOf(`${sql})`, kind)) {
    if (sql.slice(plain, start).includes(';') || token === 'comment' || token === 'marker') return false
    if (token === 'parenthesis') depth += sql[start] === '(' ? 1 : -1
    if (depth === 0) return start === sql.length
    plain = end
  }
  return false
}
