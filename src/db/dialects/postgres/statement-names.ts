import { createHash } from 'node:crypto'

/** For how many statements a process keeps the names; a name is a hash, which costs time. */
const MAX_CACHED = 1_000

/** From SQL to its name, the least recently used first. */
const names = new Map<string, string>()

const PREFIX = 'sequitur_'
const LENGTH_OF_HASH = 43

export const LENGTH_OF_NAME = PREFIX.length + LENGTH_OF_HASH

/**
 * The name under which connections prepare a statement; undefined if it contains literal values, as it is then rarely sent again.
 *
 * The name depends on the SQL alone: even if several clients share a connection, as behind a pooler, one name never means two statements.
 *
 * @param isConstant whether the literals in the SQL are the same at every execution.
 */
export function statementName(sql: string, isConstant: boolean): string | undefined {
  if (!isConstant && LITERAL.test(sql)) return undefined
  const name = names.get(sql) ?? `${PREFIX}${createHash('sha256').update(sql).digest('base64url')}`
  names.delete(sql)
  names.set(sql, name)
  if (names.size > MAX_CACHED) names.delete(names.keys().next().value ?? '')
  return name
}

/** A quote, or a digit that is not part of a name or placeholder. The number after LIMIT is allowed: it has only a few values. */
const LITERAL = /'|\$\D|[^\w$"]\d(?<!\bLIMIT \d)/
