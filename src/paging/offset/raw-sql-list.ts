import { type Token, tokensOf } from '../../db/sql/lexer.js'
import { rawSql, type Sql, sql } from '../../db/statements/statement.js'

/** What a slice needs of a list. */
interface Slice {
  readonly offset: number
  readonly limit: number
}

/** Some rows of a statement that is a text. */
export function sliced(statement: Sql<unknown>, { offset, limit }: Slice, dialect: string): Sql<unknown> {
  const whole = trimmed(statement, dialect)
  // The numbers stand in the text: not every database takes a parameter for them. Both were validated as whole numbers.
  const cut = rawSql(`\nLIMIT ${limit} OFFSET ${offset}`)
  return isCut(whole, dialect) ? sql`SELECT * FROM (${whole}\n) AS page${cut}` : sql`${whole}${cut}`
}

/** How many rows such a statement has, as `total`. */
export function counting(statement: Sql<unknown>, dialect: string): Sql<unknown> {
  return sql`SELECT count(*) AS total FROM (${trimmed(statement, dialect)}\n) AS counted`
}

// Without the semicolons at the end, which may stand before a comment.
function trimmed({ texts, ...rest }: Sql<unknown>, dialect: string): Sql<unknown> {
  const outline = outlineOf(texts.join('?'), dialect)
  const length = outline.length - outline.replace(/[\s;]+$/, '').length
  const last = texts.at(-1) as string
  return { ...rest, texts: [...texts.slice(0, -1), last.slice(0, last.length - length)] }
}

/** LIMIT, OFFSET or FETCH FIRST, and not a column of such a name: `t.limit`, `AS limit`, `ORDER BY offset`. */
const CUTS = /(?<!\.\s*|\bAS\s+)\b(?:LIMIT\b|FETCH\s+(?:FIRST|NEXT)\b|OFFSET\s+[\d?])/i

// Its own LIMIT is part of what is paged; all others are not, and lose their order when they stand in parentheses.
function isCut({ texts }: Sql<unknown>, dialect: string): boolean {
  return CUTS.test(outlineOf(texts.join('?'), dialect))
}

const FILL: Readonly<Record<Token['kind'], string>> = { comment: ' ', marker: ',', quoted: '_', parenthesis: '_' }

/** The text with spaces for comments, and with underscores for all that is quoted or stands in parentheses: of the same length. */
function outlineOf(text: string, dialect: string): string {
  let [outline, depth, from] = ['', 0, 0]
  const copyUpTo = (to: number) => {
    outline += depth > 0 ? '_'.repeat(to - from) : text.slice(from, to)
  }
  for (const { kind, start, end } of tokensOf(text, dialect)) {
    copyUpTo(start)
    if (text[start] === ')') depth = Math.max(depth - 1, 0)
    outline += (depth > 0 ? '_' : FILL[kind]).repeat(end - start)
    if (text[start] === '(') depth++
    from = end
  }
  copyUpTo(text.length)
  return outline
}
