import { tokensOf } from './lexer.js'

const PLAIN = /[\p{L}_][\p{L}\p{N}_$]*|\d[\w.]*|[^\s]/gu

/** Words, quoted names and strings, and punctuation. Comments are left out. */
export function* lexemesOf(sql: string, dialect: string): Generator<string, void> {
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
  /** Its operation, or that around it; empty before the first one. */
  operation: string
  expectsTable: boolean
  /** Whether a comma is followed by another table. */
  isTableList: boolean
}

export const WORD = /^[\p{L}_][\p{L}\p{N}_$]*$/u
const OBJECTS = new Set(['TABLE', 'INDEX', 'VIEW', 'SCHEMA', 'DATABASE', 'SEQUENCE', 'TYPE', 'FUNCTION'])
const NOT_TABLES = new Set(['ONLY', 'LATERAL', 'IF', 'NOT', 'EXISTS', 'CONCURRENTLY', 'IGNORE', 'LOW_PRIORITY', 'OR'])
const END_OF_TABLES = new Set(
  'WHERE GROUP ORDER HAVING LIMIT OFFSET FETCH SET UNION INTERSECT EXCEPT VALUES RETURNING WINDOW FOR DEFAULT'.split(
    ' ',
  ),
)

/** Words before UPDATE and DELETE that make them a part of another clause: `FOR UPDATE`, `ON CONFLICT DO UPDATE`, `ON DELETE CASCADE`. */
const CLAUSES = new Set(['FOR', 'DO', 'KEY', 'ON', 'THEN', 'BEFORE', 'AFTER'])

/** Reads the operations and tables of a statement, in their order. */
export abstract class StatementReader {
  readonly #levels: Level[] = []
  #level: Level = { hasOperation: false, operation: '', expectsTable: false, isTableList: false }
  #isDefinition = false
  /** The last word, in capital letters, or punctuation. */
  #previous = ''
  /** The parts of the name of a table, of which another may follow. */
  #table: string[] = []
  #isEmpty = true

  /** Called with an operation, or what it defines, in capital letters. */
  protected abstract addOperation(word: string): void

  /** @param parts of its name, as they are written, with the dots between them. @param operation in capital letters, such as SELECT. */
  protected abstract addTable(parts: readonly string[], operation: string): void

  /** Whether the rest of the statement is of no interest. */
  protected get isFull(): boolean {
    return false
  }

  protected readAll(sql: string, dialect: string): void {
    for (const lexeme of lexemesOf(sql, dialect)) {
      if (this.isFull) break
      this.#read(lexeme)
    }
    this.#endTable()
  }

  #read(lexeme: string): void {
    if (this.#table.length > 0) {
      if (lexeme === '.' || (this.#table.at(-1) === '.' && isName(lexeme))) return void this.#table.push(lexeme)
      this.#endTable()
    }
    const word = lexeme.toUpperCase()
    if (lexeme === '(') this.#open()
    else if (lexeme === ')') this.#level = this.#levels.pop() ?? this.#level
    else if (lexeme === ',') this.#level.expectsTable = this.#level.isTableList
    else if (!this.#readKeyword(word) && this.#level.expectsTable && !this.#isBeforeTable(word)) this.#readTable(lexeme)
    this.#previous = word
  }

  // `FROM (a JOIN b)` continues with a table, and so does `FROM (SELECT ...)` after its own FROM.
  #open(): void {
    this.#levels.push(this.#level)
    const { expectsTable, operation } = this.#level
    this.#level.expectsTable = false
    this.#level = { hasOperation: false, operation, expectsTable, isTableList: expectsTable }
  }

  // SQLite: UPDATE OR ROLLBACK hero
  #isBeforeTable(word: string): boolean {
    return NOT_TABLES.has(word) || this.#previous === 'OR'
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
    return this.#isEmpty && this.#levels.length === 0 && word !== 'WITH' && this.#previous === '' && WORD.test(word)
  }

  // insert() and replace() are functions, too.
  #isAtStart(): boolean {
    return !this.#level.hasOperation
  }

  #begin(word: string): void {
    this.#add(word)
    this.#isDefinition = word === 'CREATE' || word === 'DROP' || word === 'ALTER' || word === 'TRUNCATE'
    this.#level.hasOperation = true
    this.#level.operation = word
    this.#level.expectsTable = this.#level.isTableList = word === 'UPDATE'
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
    if (isName(lexeme)) this.#table = [lexeme]
  }

  #endTable(): void {
    const parts = this.#table
    if (parts.length === 0) return
    this.#table = []
    this.addTable(parts, this.#level.operation)
  }

  #add(word: string): void {
    this.#isEmpty = false
    this.addOperation(word)
  }
}

// A string is no name, and may be a value.
function isName(lexeme: string): boolean {
  return WORD.test(lexeme) || /^["`[]/.test(lexeme)
}
