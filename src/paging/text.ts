import { rawSql, type Sql, sql } from '../db/statement.js'

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

const QUOTED = [/'(?:[^']|'')*'/, /"(?:[^"]|"")*"/, /`(?:[^`]|``)*`/]
const ESCAPED = [/'(?:[^'\\]|\\[^]|'')*'/, /"(?:[^"\\]|\\[^]|"")*"/]
const BLOCK_COMMENT = /\/\*[^]*?\*\//

/** What is no SQL of the statement itself: first the comments, then what is quoted. */
const TOKENS: Readonly<Record<string, readonly [comments: readonly RegExp[], quoted: readonly RegExp[]]>> = {
  postgres: [
    [/--[^\n]*/, BLOCK_COMMENT],
    [/\be'(?:[^'\\]|\\[^]|'')*'/, /\$(?<tag>[a-z_]*\w*)\$[^]*?\$\k<tag>\$/, ...QUOTED],
  ],
  mysql: [
    [/--(?=\s|$)[^\n]*/, /#[^\n]*/, BLOCK_COMMENT],
    [...ESCAPED, ...QUOTED],
  ],
  other: [
    [/--[^\n]*/, BLOCK_COMMENT],
    [/\[[^\]]*\]/, ...QUOTED],
  ],
}

const tokens = new Map(
  Object.entries(TOKENS).map(([dialect, [comments, quoted]]) => [dialect, toPattern(comments, quoted)]),
)

function toPattern(comments: readonly RegExp[], quoted: readonly RegExp[]): RegExp {
  const anyOf = (name: string, patterns: readonly RegExp[]) =>
    `(?<${name}>${patterns.map(({ source }) => source).join('|')})`
  return new RegExp(`${anyOf('comment', comments)}|${anyOf('quoted', quoted)}|[()]`, 'gi')
}

/** The text with spaces for comments, and with underscores for all that is quoted or stands in parentheses: of the same length. */
function outlineOf(text: string, dialect: string): string {
  const pattern = tokens.get(dialect === 'mariadb' ? 'mysql' : dialect) ?? (tokens.get('other') as RegExp)
  let [outline, depth, from] = ['', 0, 0]
  const skip = (to: number) => {
    outline += depth > 0 ? '_'.repeat(to - from) : text.slice(from, to)
    from = to
  }
  for (const { 0: token, index, groups } of text.matchAll(pattern)) {
    skip(index)
    if (token === ')') depth = Math.max(depth - 1, 0)
    outline += (groups?.['comment'] !== undefined && depth === 0 ? ' ' : '_').repeat(token.length)
    if (token === '(') depth++
    from = index + token.length
  }
  skip(text.length)
  return outline
}
