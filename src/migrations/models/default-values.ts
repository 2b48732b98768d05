import type { Column, DatabaseKind } from '../../db/catalog/catalog.js'
import type { ColumnType } from './column-types.js'
import { quoted } from './literals.js'

/** The value of `defaultValue` in a class: `'draft'`, `0`, or `literal('now()')` for what only the database can compute. Undefined for none. */
export function defaultValue(kind: DatabaseKind, column: Column, { literal }: ColumnType): string | undefined {
  const expression = column.default?.trim()
  if (expression === undefined || expression === '' || isNull(expression)) return undefined
  const constant = readConstant(kind, withoutParentheses(expression))
  return (constant && constantText(kind, constant, literal)) ?? `literal(${quoted(insertable(kind, expression))})`
}

function isNull(expression: string): boolean {
  return /^null(?:::.*)?$/is.test(expression)
}

interface Constant {
  readonly text: string
  readonly isQuoted: boolean
}

const NUMBER = /^[+-]?\d{1,30}(?:\.\d{1,30})?$/

/** A string or a number, on PostgreSQL perhaps with a cast: `'draft'::character varying`. */
function readConstant(kind: DatabaseKind, expression: string): Constant | undefined {
  if (NUMBER.test(expression) || /^(?:true|false)$/i.test(expression)) return { text: expression, isQuoted: false }
  const end = endOfString(expression)
  const inside = expression.slice(1, end - 1)
  const after = expression.slice(end)
  if (end < 0 || inside.includes('\\') || !(after === '' || (kind === 'postgres' && isCast(after)))) return undefined
  return { text: inside.replaceAll("''", "'"), isQuoted: true }
}

/** After the quote that closes a string, in which quotes are doubled; -1 for another expression. */
function endOfString(expression: string): number {
  if (!expression.startsWith("'")) return -1
  for (let at = 1; at < expression.length; at++) {
    if (expression[at] !== "'") continue
    if (expression[at + 1] !== "'") return at + 1
    at++
  }
  return -1
}

function isCast(after: string): boolean {
  return /^::[\w\s.",()[\]]{1,200}$/.test(after)
}

function withoutParentheses(expression: string): string {
  return /^\([+-]?\d{1,30}(?:\.\d{1,30})?\)$/.test(expression) ? expression.slice(1, -1) : expression
}

// Quotes are kept, because the engines tell '1' from 1.
function constantText(
  kind: DatabaseKind,
  { text, isQuoted }: Constant,
  type: ColumnType['literal'],
): string | undefined {
  const isNumber = NUMBER.test(text) && String(Number(text)) === text
  switch (type) {
    case 'string':
      return isQuoted ? quoted(text) : isNumber ? text : undefined
    case 'number':
      return isNumber && (!isQuoted || kind === 'postgres') ? text : undefined
    case 'boolean':
      return isQuoted ? undefined : booleanText(kind, text)
    case 'json':
      return isQuoted ? jsonText(text) : undefined
    case 'none':
      return undefined
  }
}

function booleanText(kind: DatabaseKind, text: string): string | undefined {
  if (kind === 'postgres') return text
  return text === '1' ? 'true' : text === '0' ? 'false' : undefined
}

// What Sequelize writes must be the same text.
function jsonText(text: string): string | undefined {
  return text === '{}' || text === '[]' ? text : undefined
}

// An expression that is no constant needs parentheses as a default, but for the names of moments.
function insertable(kind: DatabaseKind, expression: string): string {
  const isPlain = /^(?:current_\w{4,9}(?:\(\d?\))?|'.*'|\(.*\)|[+-]?[\d.]{1,40}|true|false)$/is.test(expression)
  return kind === 'postgres' || kind === 'mariadb' || isPlain ? expression : `(${expression})`
}
