/** The syntax of comments and quotes in one database. */
interface Syntax {
  /** The first characters of a token. */
  readonly begin: RegExp
  readonly nestsComments: boolean
  /** The end of a comment that begins with --. */
  readonly lineEnd: RegExp
  /** The quotes in which a backslash escapes the next character. */
  readonly escapingQuotes: string
}

/**
 * A part of a statement that is not plain SQL, from `start` up to, not including, `end`. A marker is the beginning or the end of a comment
 * that MySQL executes.
 */
export interface Token {
  readonly kind: 'comment' | 'marker' | 'quoted' | 'parenthesis'
  readonly start: number
  readonly end: number
}

const POSTGRES: Syntax = {
  begin:
    /--|\/\*|(?<![\w$\u0080-\uffff])[eE]'|'|"|(?<![\w$\u0080-\uffff])\$(?:[A-Za-z_\u0080-\uffff][\w\u0080-\uffff]*)?\$|[()]/,
  nestsComments: true,
  lineEnd: /[\n\r]/g,
  escapingQuotes: '',
}

// MySQL executes the SQL inside /*! */, so only its two ends are tokens.
const MYSQL: Syntax = {
  begin: /--(?=\s|$)|#|\/\*M?!\d*|\/\*|\*\/|['"`()]/,
  nestsComments: false,
  lineEnd: /\n/g,
  escapingQuotes: `'"`,
}

const OTHER: Syntax = { begin: /--|\/\*|['"`[()]/, nestsComments: false, lineEnd: /\n/g, escapingQuotes: '' }

const SYNTAXES: Readonly<Record<string, Syntax>> = { postgres: POSTGRES, mysql: MYSQL, mariadb: MYSQL }

/** The tokens of a statement. One without an end, such as an open quote, continues to the end of the statement. Takes linear time. */
export function* tokensOf(sql: string, dialect: string): Generator<Token, void> {
  const syntax = SYNTAXES[dialect] ?? OTHER
  const begin = new RegExp(syntax.begin, 'g')
  for (let found = begin.exec(sql); found; found = begin.exec(sql)) {
    const token = tokenOf(sql, found.index, found[0], syntax)
    begin.lastIndex = token.end
    yield token
  }
}

/** Where the first statement begins, in the syntax of each database: after whitespace, comments and semicolons. */
export function statementStarts(sql: string): readonly number[] {
  return [POSTGRES, MYSQL, OTHER].map((syntax) => statementStart(sql, syntax))
}

const WHITESPACE_OR_SEMICOLON = /[\s;]*/y

function statementStart(sql: string, syntax: Syntax): number {
  const begin = new RegExp(syntax.begin, 'y')
  for (let at = 0; ;) {
    WHITESPACE_OR_SEMICOLON.lastIndex = at
    begin.lastIndex = at += WHITESPACE_OR_SEMICOLON.exec(sql)?.[0].length ?? 0
    const found = begin.exec(sql)
    const token = found && tokenOf(sql, at, found[0], syntax)
    if (token?.kind !== 'comment' && token?.kind !== 'marker') return at
    at = token.end
  }
}

function tokenOf(sql: string, start: number, begin: string, syntax: Syntax): Token {
  const from = start + begin.length
  switch (begin) {
    case '(':
    case ')':
      return { kind: 'parenthesis', start, end: from }
    case '--':
    case '#':
      return { kind: 'comment', start, end: lineEnd(sql, syntax.lineEnd, from) }
    case '/*':
      return { kind: 'comment', start, end: syntax.nestsComments ? nestedEnd(sql, from) : endOf(sql, '*/', from) }
    case '[':
      return { kind: 'quoted', start, end: endOf(sql, ']', from) }
  }
  if (begin === '*/' || begin.startsWith('/*')) return { kind: 'marker', start, end: from }
  if (begin.startsWith('$')) return { kind: 'quoted', start, end: endOf(sql, begin, from) }
  const quote = begin.charAt(begin.length - 1)
  const escapes = begin.length > 1 || syntax.escapingQuotes.includes(quote)
  return { kind: 'quoted', start, end: quoteEnd(sql, quote, from, escapes) }
}

function quoteEnd(sql: string, quote: string, from: number, escapes: boolean): number {
  for (let at = from; at < sql.length; at++) {
    if (escapes && sql[at] === '\\') at++
    else if (sql[at] === quote && sql[at + 1] === quote) at++
    else if (sql[at] === quote) return at + 1
  }
  return sql.length
}

function nestedEnd(sql: string, from: number): number {
  const delimiter = /\/\*|\*\//g
  delimiter.lastIndex = from
  let depth = 1
  for (let found = delimiter.exec(sql); found; found = delimiter.exec(sql)) {
    depth += found[0] === '/*' ? 1 : -1
    if (depth === 0) return delimiter.lastIndex
  }
  return sql.length
}

function endOf(sql: string, delimiter: string, from: number): number {
  const at = sql.indexOf(delimiter, from)
  return at < 0 ? sql.length : at + delimiter.length
}

function lineEnd(sql: string, end: RegExp, from: number): number {
  end.lastIndex = from
  return end.exec(sql)?.index ?? sql.length
}
