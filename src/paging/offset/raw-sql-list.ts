import type { Session } from '../../db/session/session.js'
import { type Token, tokensOf } from '../../db/sql/lexer.js'
import { rawSql, type Sql, sql } from '../../db/statements/statement.js'
import type { OffsetWindow } from './offset-list.js'

/** The rows of a `sql` statement, in the order of its SQL. */
export class RawSqlList {
  readonly #session: Session
  /** The statement without the semicolons at its end. */
  readonly #statement: Sql<unknown>
  readonly #hasLimit: boolean

  constructor(statement: Sql<unknown>, session: Session) {
    const dialect = session.sequelize.getDialect()
    this.#session = session
    this.#statement = withoutSemicolons(statement, dialect)
    this.#hasLimit = LIMITS.test(outlineOf(this.#statement, dialect))
  }

  rows({ offset, limit }: OffsetWindow): Promise<unknown[]> {
    // Raw SQL instead of values: not every database accepts placeholders here. Both are validated as integers.
    const page = rawSql(`\nLIMIT ${limit} OFFSET ${offset}`)
    // A statement's own LIMIT applies before the page's. Any other statement would lose its order as a subquery.
    return this.#session.execute(
      this.#hasLimit ? sql`SELECT * FROM (${this.#statement}\n) AS page${page}` : sql`${this.#statement}${page}`,
    )
  }

  async count(): Promise<number> {
    const [row] = await this.#session.execute(
      sql<{ total: number | string }>`SELECT count(*) AS total FROM (${this.#statement}\n) AS counted`,
    )
    return Number(row?.total)
  }
}

// A comment may follow them.
function withoutSemicolons({ texts, ...rest }: Sql<unknown>, dialect: string): Sql<unknown> {
  const outline = outlineOf({ texts }, dialect)
  const length = outline.length - outline.replace(/[\s;]+$/, '').length
  const last = texts.at(-1) ?? ''
  return { ...rest, texts: [...texts.slice(0, -1), last.slice(0, last.length - length)] }
}

/** LIMIT, OFFSET or FETCH FIRST, and no column of such a name: `t.limit`, `AS limit`, `ORDER BY offset`. */
const LIMITS = /(?<!\.\s*|\bAS\s+)\b(?:LIMIT\b|FETCH\s+(?:FIRST|NEXT)\b|OFFSET\s+[\d?])/i

const FILL: Readonly<Record<Token['kind'], string>> = { comment: ' ', marker: ',', quoted: '_', parenthesis: '_' }

/** The SQL with spaces in place of comments, and with underscores in place of all that is quoted or in parentheses; of the same length. */
function outlineOf({ texts }: Pick<Sql<unknown>, 'texts'>, dialect: string): string {
  const text = texts.join('?')
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
