import { statementStarts } from './lexer.js'

const LETTER = /^[a-z]/i

/**
 * Makes a function that reports whether the first statement in a string begins with one of the keywords. The string is read in the syntax of
 * every database, because text that is a comment in one may be a statement in another.
 *
 * @param keywords sources of regular expressions: 'LOCK\\s+TABLES?'.
 */
export function startsWithKeyword(...keywords: readonly string[]): (sql: string) => boolean {
  const isAt = keywordAt(keywords)
  return (sql) => (LETTER.test(sql) ? isAt(sql, 0) : statementStarts(sql).some((at) => isAt(sql, at)))
}

/** Like {@link startsWithKeyword}, but the statement begins with one of the keywords in the syntax of each database. */
export function startsOnlyWithKeyword(...keywords: readonly string[]): (sql: string) => boolean {
  const isAt = keywordAt(keywords)
  return (sql) => (LETTER.test(sql) ? isAt(sql, 0) : statementStarts(sql).every((at) => isAt(sql, at)))
}

function keywordAt(keywords: readonly string[]): (sql: string, at: number) => boolean {
  const keyword = new RegExp(`(?:${keywords.join('|')})\\b`, 'iy')
  return (sql, at) => {
    keyword.lastIndex = at
    return keyword.test(sql)
  }
}
