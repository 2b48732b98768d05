import { tokensOf } from './lexer.js'

/** In characters: the longest summary, as the conventions of OpenTelemetry require, and how much of a statement is read for it. */
const MAX_SUMMARY = 255
const MAX_READ = 8_000

/**
 * The operations and tables of a statement, in their order: `INSERT shipping SELECT orders`. Contains no values and no aliases, and each table by one name,
 * however it is written, so that it names a class of statements (`db.query.summary` of OpenTelemetry).
 */
export function summarizeQuery(sql: string, dialect: string): string {
  const summary = new Summary(dialect)
  for (const lexeme of lexemesOf(sql.slice(0, MAX_READ), dialect)) {
    if (summary.isFull) break
    summary.read(lexeme)
  }
  return summary.end()
}

const PLAIN = /[\p{L}_][\p{L}\p{N}_$]*|\d[\w.]*|[^\s]/gu

/** Words, quoted names and strings, and punctuation. Comments are left out. */
function* lexemesOf(sql: string, dialect: string): Generator<string, void> {
  let at = 0
  for (const { kind, start, end } of tokensOf(sql, dialect)) {
    yield* sql.slice(at, start).match(PLAIN) ?? []
    if (kind === 'quoted' || kind === 'parenthesis') yield sql.slice(start, end)
    at = end
  }
  yield* sql.slice(at).match(PLAIN) ?? []
}

/** The part of a statement between two parentheses. */
interface Level {
  /** Whether an operation stands in it: in the function `extract(year FROM day)`, FROM names no table. */
  hasOperation: boolean
  expectsTable: boolean
  /** Whether a comma is followed by another table. */
  isTableList: boolean
}

const WORD = /^[\p{L}_][\p{L}\p{N}_$]*$/u
const OBJECTS = new Set(['TABLE', 'INDEX', 'VIEW', 'SCHEMA', 'DATABASE', 'SEQUENCE', 'TYPE', 'FUNCTION'])
const NOT_TABLES = new Set(['ONLY', 'LATERAL', 'IF', 'NOT', 'EXISTS', 'CONCURRENTLY', 'IGNORE', 'LOW_PRIORITY', 'OR'])
const END_OF_TABLES = new Set(
  'WHERE GROUP ORDER HAVING LIMIT OFFSET FETCH SET UNION INTERSECT EXCEPT VALUES RETURNING WINDOW FOR DEFAULT'.split(
    ' ',
  ),
)

/** Words before UPDATE and DELETE that make them a part of another clause: `FOR UPDATE`, `ON CONFLICT DO UPDATE`, `ON DELETE CASCADE`. */
const CLAUSES = new Set(['FOR', 'DO', 'KEY', 'ON', 'THEN', 'BEFORE', 'AFTER'])

class Summary {
  readonly #dialect: string
  #text = ''
  readonly #levels: Level[] = []
  #level: Level = { hasOperation: false, expectsTable: false, isTableList: false }
  #isDefinition = false
  /** The last word, in capital letters, or punctuation. */
  #previous = ''
  /** The name of a table whose next part may follow. */
  #table = ''
  isFull = false

  constructor(dialect: string) {
    this.#dialect = dialect
  }

  end(): string {
    this.#addTable()
    return this.#text
  }

  read(lexeme: string): void {
    if (this.#table !== '') {
      const goesOn = lexeme === '.' || (this.#table.endsWith('.') && isName(lexeme))
      if (goesOn) return void (this.#table += normalName(lexeme, this.#dialect))
      this.#addTable()
    }
    const word = lexeme.toUpperCase()
    if (lexeme === '(') this.#open()
    else if (lexeme === ')') this.#level = this.#levels.pop() ?? this.#level
    else if (lexeme === ',') this.#level.expectsTable = this.#level.isTableList
    else if (!this.#readKeyword(word) && this.#level.expectsTable && !NOT_TABLES.has(word)) this.#readTable(lexeme)
    this.#previous = word
  }

  // `FROM (a JOIN b)` continues with a table, and so does `FROM (SELECT ...)` after its own FROM.
  #open(): void {
    this.#levels.push(this.#level)
    const { expectsTable } = this.#level
    this.#level.expectsTable = false
    this.#level = { hasOperation: false, expectsTable, isTableList: expectsTable }
  }

  #readKeyword(word: string): boolean {
    if (this.#isOperation(word)) this.#begin(word)
    else if (word === 'FROM' && this.#level.hasOperation && this.#previous !== 'DISTINCT') this.#expect(true)
    else if (word === 'JOIN' || word === 'STRAIGHT_JOIN') this.#level.expectsTable = true
    else if (word === 'INTO') this.#expect(false)
    else if (this.#isDefinition && OBJECTS.has(word)) this.#defines(word)
    else if (END_OF_TABLES.has(word)) this.#level.expectsTable = this.#level.isTableList = false
    else return false
    return true
  }

  #isOperation(word: string): boolean {
    if (word === 'SELECT') return true
    if (word === 'INSERT' || word === 'MERGE') return this.#isAtStart()
    if (word === 'REPLACE') return this.#isAtStart() && this.#previous !== 'OR'
    if (word === 'UPDATE' || word === 'DELETE') return !CLAUSES.has(this.#previous)
    return this.#text === '' && this.#levels.length === 0 && word !== 'WITH' && this.#previous === '' && WORD.test(word)
  }

  // insert() and replace() are functions, too.
  #isAtStart(): boolean {
    return !this.#level.hasOperation
  }

  #begin(word: string): void {
    this.#add(word)
    this.#isDefinition = word === 'CREATE' || word === 'DROP' || word === 'ALTER' || word === 'TRUNCATE'
    this.#level.hasOperation = true
    this.#expect(false)
    this.#level.expectsTable = word === 'UPDATE'
  }

  #expect(isList: boolean): void {
    this.#level.expectsTable = true
    this.#level.isTableList = isList
  }

  // `CREATE INDEX name ON table`: the first name is enough.
  #defines(word: string): void {
    this.#add(word)
    this.#isDefinition = false
    this.#expect(false)
  }

  #readTable(lexeme: string): void {
    this.#level.expectsTable = false
    if (isName(lexeme)) this.#table = normalName(lexeme, this.#dialect)
  }

  #addTable(): void {
    const table = this.#table
    this.#table = ''
    if (table !== '') this.#add(table)
  }

  #add(part: string): void {
    const length = this.#text.length + (this.#text === '' ? 0 : 1) + part.length
    if (this.isFull || length > MAX_SUMMARY) this.isFull = true
    else this.#text += this.#text === '' ? part : ` ${part}`
  }
}

/** The one form of a name in a database, without quotes where it is the same name without them. */
function normalName(lexeme: string, dialect: string): string {
  const isQuoted = /^["`[]./.test(lexeme)
  const name = isQuoted ? lexeme.slice(1, -1) : lexeme
  const lower = name.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()) // databases fold no other letters
  switch (dialect) {
    case 'postgres':
      return isQuoted && (name !== lower || !WORD.test(name)) ? lexeme : lower
    case 'sqlite': // case-insensitive in quotes, too
      return isQuoted && !WORD.test(name) ? `"${lower}"` : lower
    case 'mysql': // whether it is case-sensitive is a setting of the server, with quotes and without
    case 'mariadb':
      return isQuoted && !WORD.test(name) ? lexeme : name
    default:
      return lexeme
  }
}

// A string is no name, and may be a value.
function isName(lexeme: string): boolean {
  return WORD.test(lexeme) || /^["`[]/.test(lexeme)
}
