import { statementStarts } from './lexer.js'

const LETTER = /^[a-z]/i

/**
 * Recognises texts whose first statement begins with one of the keywords, which are written as regular expressions. The text is read in the
 * syntax of every database: a keyword must not be hidden in what another one takes for a comment.
 */
export function startsWithKeyword(...keywords: readonly string[]): (sql: string) => boolean {
  const keyword = new RegExp(`(?:${keywords.join('|')})\\b`, 'iy')
  const isAt = (sql: string, at: number) => {
    keyword.lastIndex = at
    return keyword.test(sql)
  }
  return (sql) => (LETTER.test(sql) ? isAt(sql, 0) : statementStarts(sql).some((at) => isAt(sql, at)))
}
