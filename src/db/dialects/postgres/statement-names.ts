import { createHash, randomUUID } from 'node:crypto'

/** For how many statements a process keeps the names; a name is a hash, which costs time. */
const MAX_CACHED = 1_000

/** From SQL to its name, the least recently used first. */
const names = new Map<string, string>()

/** From SQL whose prepared statement was outdated to the text that was prepared instead, the oldest first. */
const renewed = new Map<string, string>()

const PREFIX = 'sequitur_'

/**
 * The known form of a statement. `constant`: its literals are the same at every execution. `covered`: so they are, and its values have the types of columns
 * of its result. `slice`: its values have such types, too.
 */
export type PreparableForm = 'constant' | 'covered' | 'slice'

/**
 * Whether connections prepare a statement. Not if it contains literal values, because it is then rarely sent again.
 *
 * The server infers the types of parameters once, from the columns that they are compared with or written to, and keeps them when these columns are
 * altered: a time would be read as a date. It then rejects only a statement whose own result has other types. Source: RevalidateCachedQuery() in plancache.c.
 */
export function mayPrepare(sql: string, form: PreparableForm | undefined): boolean {
  if (form === 'covered') return true
  return (form === 'constant' || !LITERAL.test(sql)) && (form === 'slice' || hasOwnTypes(sql))
}

/** Whether the SQL itself has the type of each of its parameters, as `$1::bigint` or `CAST($1 AS bigint)` has. */
function hasOwnTypes(sql: string): boolean {
  return !PARAMETER.test(sql.replace(TYPED_PARAMETER, ''))
}

const PARAMETER = /\$\d/
const TYPED_PARAMETER = /\$\d+\s*::|\bCAST\s*\(\s*\$\d+\s+AS\b/gi

/**
 * The name under which connections prepare a statement. It depends only on the text: even if several clients share a connection, as behind a pooler,
 * one name never means two statements.
 */
export function nameOf(text: string): string {
  const name = names.get(text) ?? `${PREFIX}${createHash('sha256').update(text).digest('base64url')}`
  names.delete(text)
  names.set(text, name)
  if (names.size > MAX_CACHED) names.delete(names.keys().next().value ?? '')
  return name
}

/** The text that SQL is prepared as: itself, unless it was renewed. */
export function textOf(sql: string): string {
  return renewed.get(sql) ?? sql
}

/**
 * Another text for SQL whose prepared statement is outdated, because a table was altered. Another name alone is not enough: PgBouncer prepares a text
 * once for all clients, so that the outdated statement would be found again.
 *
 * @param outdated the text that was prepared. Another connection may have renewed it in the meantime.
 */
export function renewText(sql: string, outdated: string): string {
  const text = textOf(sql)
  if (text !== outdated) return text
  const other = `${sql} /* ${randomUUID()} */`
  renewed.set(sql, other)
  if (renewed.size > MAX_CACHED) renewed.delete(renewed.keys().next().value ?? '')
  return other
}

/** A quote, or a digit that is not part of a name or placeholder. The number after LIMIT is allowed: it has only a few values. */
const LITERAL = /'|\$\D|[^\w$"]\d(?<!\bLIMIT \d)/
