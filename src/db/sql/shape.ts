import { isMysql } from '../is-mysql.js'
import { tokensOf } from './lexer.js'
import { isKnownWrite } from './writes.js'

/** Characters of a statement that its shape is made of. */
const MAX_LENGTH = 4_000
/** For how many statements a process keeps the facts. */
const MAX_KNOWN = 1_000

/** What counters of statements need to know of one. */
export interface StatementFacts {
  /**
   * The text of the statement with `?` for every literal, and for every list of literals: the same for all statements that differ only in their
   * values. Comments, whitespace and placeholders stay as they are.
   */
  readonly shape: string
  readonly isKnownWrite: boolean
  /** Whether it may read a batch of a list: the rows after a key, in an order. */
  readonly mayBeBatch: boolean
}

const known = new Map<string, StatementFacts>()

export function factsOfStatement(sql: string, dialect: string): StatementFacts {
  const found = known.get(sql)
  if (found) return found
  const shape = withoutLiterals(sql, dialect)
  const writes = isKnownWrite(sql)
  const facts = { shape, isKnownWrite: writes, mayBeBatch: !writes && mayBeBatch(shape) }
  if (sql.length > MAX_LENGTH) return facts
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(sql, facts)
  return facts
}

/** A comparison with a placeholder. Not `<>`, and not the operators of JSON. */
const BOUND = /(?<![<>-])[<>]=?\s*(?:\(\s*)?[$?:]/

function mayBeBatch(shape: string): boolean {
  const isWhole = shape.length < MAX_LENGTH
  return isWhole && /\bORDER\s+BY\b/i.test(shape) && /\b(?:LIMIT|FETCH)\b/i.test(shape) && BOUND.test(shape)
}

/** A text with SQL in it, such as a step of a plan, with `?` for every literal. Cut off after 4,000 characters. */
export function withoutLiterals(sql: string, dialect: string): string {
  const text = sql.slice(0, MAX_LENGTH)
  let shape = ''
  let at = 0
  for (const { kind, start, end } of tokensOf(text, dialect)) {
    if (kind === 'marker' || kind === 'parenthesis') continue
    shape += withoutNumbers(text.slice(at, start))
    shape += kind === 'quoted' && isLiteral(text, start, dialect) ? '?' : text.slice(start, end)
    at = end
  }
  return (shape + withoutNumbers(text.slice(at))).replaceAll(LIST, '?, ...') + (sql.length > MAX_LENGTH ? '...' : '')
}

/**
 * Whether what is quoted is a value, and no name. In the mode ANSI_QUOTES of MySQL, double quotes are of identifiers. Those appear as `?` then: a value
 * never appears.
 */
export function isLiteral(sql: string, start: number, dialect: string): boolean {
  const quote = sql[start]
  if (quote === '"') return isMysql(dialect)
  return quote !== '`' && quote !== '['
}

// Not the digits of identifiers (t1) and placeholders ($1, :1).
const NUMBER = /(?<![\w$@:?.\u0080-\uffff])(?:0[xX][\da-fA-F]+|(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)/g
const LIST = /\?(?:\s*,\s*\?)+/g

function withoutNumbers(text: string): string {
  return text.replaceAll(NUMBER, '?')
}
