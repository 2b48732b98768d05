import { tokensOf } from '../db/sql/lexer.js'
import { startsWithKeyword } from '../db/sql/starts-with-keyword.js'
import { TenancyError } from './errors.js'

/*
 * SQL that a program writes into a statement of a model is not limited to the tenant: the condition stands next to it. So it may be an expression, but
 * neither read other rows nor close a parenthesis that it has not opened.
 */

const SELECT = /\bselect\b/gi
/** Text that may read a table without SELECT, or hide what follows: `TABLE hero` on MySQL, `x IN hero` on SQLite, comments. */
const SUSPECT = /--|\/\*|#|\btable\b|\bin\b(?!\s*\()/i
const TABLE = /\btable\b/i
const IN_TABLE = /\bin\b(?!\s*\()/i

/** A statement after the first one. SQLite would execute only the first: `UPDATE hero SET age = 1; WHERE tenant_id = 7`. */
const SECOND = /;\s*[^\s;]/

/**
 * @param selects how many SELECTs Sequelize has written into the statement.
 * @throws TenancyError for a statement with more, as of `literal('(SELECT ...)')`, and for one that ends before its condition.
 */
export function refuseOwnSubqueries(sql: string, selects: number, dialect: string): void {
  if (countOf(sql) <= selects && !SUSPECT.test(sql) && !SECOND.test(sql)) return
  const parts = plainParts(sql, dialect)
  const plain = parts.text
  if (
    parts.hasComment ||
    countOf(plain) > selects ||
    TABLE.test(plain) ||
    SECOND.test(plain) ||
    (dialect === 'sqlite' && IN_TABLE.test(plain))
  )
    throw new TenancyError(
      'A literal() with a subquery, a comment or a semicolon is not limited to a tenant, and was refused. Write it as an include or as two statements; or name the tenant in raw SQL: unscoped(() => session.execute(sql`...`)).',
    )
}

/** @throws TenancyError for an expression that ends the condition in which it stands. */
export function refuseUnbalanced(text: string, dialect: string): void {
  let depth = 0
  for (const { kind, start, end } of tokensOf(text, dialect)) {
    if (kind === 'parenthesis') depth += text[start] === '(' ? 1 : -1
    if (depth < 0 || (kind === 'quoted' && !isClosed(text, start, end))) throw unbalanced(text)
  }
  if (depth !== 0) throw unbalanced(text)
}

/** @throws TenancyError for an expression with a comma outside of parentheses: `age = age, tenant_id = 2` changes another column, too. */
export function refuseSeveralValues(text: string, dialect: string): void {
  let depth = 0
  let from = 0
  let outside = ''
  for (const { kind, start, end } of tokensOf(text, dialect)) {
    if (depth === 0) outside += text.slice(from, start)
    if (kind === 'parenthesis') depth += text[start] === '(' ? 1 : -1
    from = end
  }
  if (!(outside + text.slice(from)).includes(',')) return
  throw new TenancyError(
    `The SQL '${text.slice(0, 40)}' has a comma outside of parentheses, and was refused as a new value: it could change the column of the tenant.`,
  )
}

function isClosed(text: string, start: number, end: number): boolean {
  const last = text[start] === '[' ? ']' : text[start]
  return end - start >= 2 && text[end - 1] === last
}

function unbalanced(text: string): TenancyError {
  return new TenancyError(
    `The SQL '${text.slice(0, 40)}' has a parenthesis or a quote without its counterpart, and was refused: it would end the condition of the tenant.`,
  )
}

/**
 * @throws TenancyError for raw SQL that policies of PostgreSQL do not limit, or that could change the tenant; and for a second statement, which
 *   could do so.
 */
export function refuseLeaving(sql: string): void {
  if (!leaves(sql) && !SETS.test(sql) && !hasSecondStatement(sql) && !setsOtherThanParameter(sql)) return
  throw new TenancyError(
    `Raw SQL that could leave the tenant of its session was refused: '${sql.trim().slice(0, 40)}'. Execute one statement at a time, none that sets roles or changes tables; write those in a migration, or in unscoped().`,
  )
}

/** @throws TenancyError for an expression of a statement with policies that does what {@link refuseLeaving} refuses. */
export function refuseLeavingExpression(text: string): void {
  if (!SETS.test(text) && !text.includes(';')) return
  const plain = plainParts(text, 'postgres').text // a value may have any text
  if (!SETS.test(plain) && !plain.includes(';')) return
  throw new TenancyError(
    `The SQL '${text.slice(0, 40)}' could leave the tenant of its session, and was refused: it sets the tenant, or has a semicolon.`,
  )
}

const leaves = startsWithKeyword('TRUNCATE', 'DISCARD', 'RESET', 'ALTER', 'DROP', 'DO')
/** Text that sets the tenant or the role, may hide their names (U&"\\0072ole"), or executes SQL of a text. `?` stands for what was quoted. */
const SETS =
  /\bset_config\b|\bsequitur\.tenant\b|\bU&(?:"| \? )|\bquery_to_xml|\bcursor_to_xml|\bts_stat\b|\bts_rewrite\b|\bdblink/i

const mayBeOfRoles = startsWithKeyword('SET', 'CREATE')
const SET = /^[\s;]*SET\b/i
/** SET LOCAL statement_timeout, SET TIME ZONE, SET TRANSACTION, SET CONSTRAINTS. */
const SETS_PARAMETER =
  /^[\s;]*SET\s+(?:(?:LOCAL|SESSION)\s+)?(?!(?:LOCAL|SESSION\w*|ROLE|AUTHORIZATION|sequitur)\b)[a-z_]/i
/** Their bodies are texts. */
const CREATES_ROUTINE = /^[\s;]*CREATE\s[^(]*?\b(?:FUNCTION|PROCEDURE)\b/i

function setsOtherThanParameter(sql: string): boolean {
  if (!mayBeOfRoles(sql)) return false
  const { text } = plainParts(sql, 'postgres')
  return SET.test(text) ? !SETS_PARAMETER.test(text) : CREATES_ROUTINE.test(text)
}

function hasSecondStatement(sql: string): boolean {
  return sql.includes(';') && SECOND.test(plainParts(sql, 'postgres').text)
}

function countOf(sql: string): number {
  return sql.match(SELECT)?.length ?? 0
}

/** The statement without what is quoted, and without comments. */
function plainParts(sql: string, dialect: string): { readonly text: string; readonly hasComment: boolean } {
  let text = ''
  let from = 0
  let hasComment = false
  for (const { kind, start, end } of tokensOf(sql, dialect)) {
    if (kind === 'parenthesis') continue
    hasComment ||= kind !== 'quoted'
    text += `${sql.slice(from, start)}${kind === 'quoted' ? ' ? ' : ' '}`
    from = end
  }
  return { text: text + sql.slice(from), hasComment }
}
