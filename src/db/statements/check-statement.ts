import { tokensOf } from '../sql/lexer.js'
import { startsWithKeyword } from '../sql/starts-with-keyword.js'
import type { Sql } from './statement.js'

type Kind = 'select' | 'sql'

const EXAMPLES: Readonly<Record<Kind, string>> = {
  select: 'select(Hero, { where: { ... } })',
  sql: 'sql`SELECT name FROM hero WHERE age > ${age}`',
}

/** @throws TypeError for an argument that select() or sql`...` has not made; the message has what to write. */
export function requireKind(statement: unknown, kind: Kind, method: string): void {
  const given = kindOf(statement)
  if (given === kind) return
  throw new TypeError(
    `session.${method}() takes a statement of ${kind === 'sql' ? 'sql`...`' : 'select(...)'}, got ${describeStatement(statement, given)}. ` +
      `Write session.${method}(${insteadOf(statement, kind)})${HINTS[`${given} for ${kind}`] ?? ''}.`,
  )
}

const HINTS: Readonly<Record<string, string>> = {
  'sql for select': ', or for raw SQL session.execute(sql`...`)',
  'select for sql': ', or for models session.all(select(...))',
  'string for sql': ': values in ${} are bound',
}

function kindOf(statement: unknown): string {
  if (typeof statement !== 'object' || statement === null) return typeof statement
  return 'kind' in statement && typeof statement.kind === 'string' ? statement.kind : 'object'
}

function describeStatement(statement: unknown, given: string): string {
  if (typeof statement === 'function') return `the class ${statement.name}`
  if (statement === null || statement === undefined) return String(statement)
  if (given === 'sql') return 'one of sql`...`'
  return given === 'select' ? 'one of select(...)' : `${given === 'object' ? 'an' : 'a'} ${given}`
}

function insteadOf(statement: unknown, kind: Kind): string {
  if (kind === 'select') return typeof statement === 'function' ? `select(${statement.name})` : EXAMPLES.select
  return typeof statement === 'string' && statement.length <= MAX_QUOTED ? `sql\`${statement}\`` : EXAMPLES.sql
}

/** Characters of a statement in a message. */
const MAX_QUOTED = 200

/** @throws TypeError for a second statement: SQLite would execute only the first. */
export function refuseSecondStatement({ texts }: Pick<Sql, 'texts'>, dialect: string): void {
  if (dialect !== 'sqlite' || !texts.some((text) => text.includes(';'))) return
  const text = texts.join('?')
  const second = hasBody(text) ? undefined : afterFirstStatement(text, dialect)
  if (second === undefined) return
  throw new TypeError(
    `sql: '${second.trim().slice(0, 40)}' comes after a semicolon, and SQLite would execute only the statement before it. Execute each statement separately.`,
  )
}

/** A trigger contains statements. */
const hasBody = startsWithKeyword('CREATE\\s+(?:TEMP\\s+|TEMPORARY\\s+)?TRIGGER')

/** The text after the first statement and its semicolon; undefined for nothing but comments and semicolons. Takes linear time. */
function afterFirstStatement(sql: string, dialect: string): string | undefined {
  let semicolon = sql.indexOf(';')
  let from = 0
  for (const { start, end } of [...tokensOf(sql, dialect), { start: sql.length, end: sql.length }]) {
    if (semicolon >= 0 && semicolon < from) semicolon = sql.indexOf(';', from) // it was in a token
    if (semicolon >= 0 && semicolon < start) return textAfter(sql, semicolon, dialect)
    from = end
  }
  return undefined
}

const PADDING = /[\s;]*/y

function textAfter(sql: string, semicolon: number, dialect: string): string | undefined {
  const rest = sql.slice(semicolon)
  let from = 0
  for (const { kind, start, end } of tokensOf(rest, dialect)) {
    PADDING.lastIndex = from
    if (kind !== 'comment' || from + (PADDING.exec(rest)?.[0].length ?? 0) < start) break
    from = end
  }
  PADDING.lastIndex = from
  from += PADDING.exec(rest)?.[0].length ?? 0
  return from < rest.length ? rest.slice(from) : undefined
}
