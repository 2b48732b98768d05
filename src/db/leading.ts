/** How a database reads comments: PostgreSQL nests them, MySQL executes some. */
interface Reading {
  readonly nests: boolean
  readonly executes: boolean
}

const READINGS: readonly Reading[] = [
  { nests: true, executes: false },
  { nests: false, executes: true },
  { nests: false, executes: false },
]

/** Tells texts whose statement begins with one of the words, in the syntax of a regular expression, on any database. */
export function leading(...words: readonly string[]): (sql: string) => boolean {
  const word = new RegExp(`(?:${words.join('|')})\\b`, 'iy')
  const standsAt = (sql: string, at: number) => {
    word.lastIndex = at
    return word.test(sql)
  }
  return (sql) =>
    LETTER.test(sql) ? standsAt(sql, 0) : READINGS.some((reading) => standsAt(sql, statementOf(sql, reading)))
}

const LETTER = /^[a-z]/i

/** Where the first statement of a text begins. */
function statementOf(sql: string, { nests, executes }: Reading): number {
  for (let at = 0; ;) {
    if (/[\s;]/.test(sql.charAt(at))) at++
    else if (sql.startsWith('--', at) || sql[at] === '#') at = behind(sql, '\n', at)
    else if (executes && sql.startsWith('/*!', at)) at = behindDigits(sql, at + 3)
    else if (sql.startsWith('/*', at)) at = nests ? behindNested(sql, at) : behind(sql, '*/', at + 2)
    else return at
  }
}

function behind(sql: string, end: string, from: number): number {
  const at = sql.indexOf(end, from)
  return at < 0 ? sql.length : at + end.length
}

function behindDigits(sql: string, from: number): number {
  let at = from
  while (/\d/.test(sql.charAt(at))) at++
  return at
}

function behindNested(sql: string, from: number): number {
  const marks = /\/\*|\*\//g
  marks.lastIndex = from
  let depth = 0
  for (let mark = marks.exec(sql); mark; mark = marks.exec(sql)) {
    depth += mark[0] === '/*' ? 1 : -1
    if (depth === 0) return marks.lastIndex
  }
  return sql.length
}
