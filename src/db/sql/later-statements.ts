import { tokensOf } from './lexer.js'

const NONE: readonly string[] = []
const SEVERAL = /;\s*\S/

/**
 * The statements of a text after its first one, each with what follows it. Semicolons in quotes, comments and parentheses separate nothing, and neither
 * do those in the body of a function, a procedure, a trigger or an event. Takes linear time.
 */
export function laterStatements(sql: string, dialect: string): readonly string[] {
  return SEVERAL.test(sql) ? [...statementsAfterFirst(sql, dialect)] : NONE
}

interface Piece {
  readonly text: string
  readonly at: number
}

function* statementsAfterFirst(sql: string, dialect: string): Generator<string, void> {
  let isFirst = true
  let statement: StatementDepth | undefined
  for (const piece of piecesOf(sql, dialect)) {
    if (piece.text === ';' && !statement?.isInside) statement = undefined
    else if (statement) statement.add(piece.text)
    else {
      if (!isFirst) yield sql.slice(piece.at)
      isFirst = false
      statement = new StatementDepth(piece.text, dialect)
    }
  }
}

/** Whether a place of a statement is in parentheses, or in the body of a routine. */
class StatementDepth {
  readonly #hasQuotedBodies: boolean
  readonly #defines: boolean
  #parentheses = 0
  #blocks = 0
  #isRoutine = false
  #last: string

  constructor(first: string, dialect: string) {
    this.#hasQuotedBodies = dialect === 'postgres'
    this.#last = first.toUpperCase()
    this.#defines = this.#last === 'CREATE' || this.#last === 'ALTER'
    if (first === '(') this.#parentheses++
  }

  // On databases other than PostgreSQL the body continues to the end of the text: only their parsers know its END.
  get isInside(): boolean {
    return this.#parentheses > 0 || this.#blocks > 0 || (this.#isRoutine && !this.#hasQuotedBodies)
  }

  add(text: string): void {
    const word = text.toUpperCase()
    if (word === '(') this.#parentheses++
    else if (word === ')') this.#parentheses--
    else if (this.#defines && ROUTINES.has(word)) this.#isRoutine = true
    else if (this.#isRoutine) this.#addToRoutine(word)
    this.#last = word
  }

  // PostgreSQL: BEGIN ATOMIC SELECT CASE ... END; END
  #addToRoutine(word: string): void {
    if (word === 'ATOMIC' && this.#last === 'BEGIN') this.#blocks++
    else if (word === 'CASE' && this.#blocks > 0) this.#blocks++
    else if (word === 'END' && this.#blocks > 0) this.#blocks--
  }
}

const ROUTINES: ReadonlySet<string> = new Set(['FUNCTION', 'PROCEDURE', 'TRIGGER', 'EVENT', 'PACKAGE'])

const PIECE = /[\w$\u0080-\uffff]+|\S/g

/** The words and signs of a text; only the first character of anything quoted. */
function* piecesOf(sql: string, dialect: string): Generator<Piece, void> {
  let from = 0
  for (const { kind, start, end } of tokensOf(sql, dialect)) {
    yield* plainPieces(sql, from, start)
    if (kind === 'quoted' || kind === 'parenthesis') yield { text: sql.charAt(start), at: start }
    from = end
  }
  yield* plainPieces(sql, from, sql.length)
}

function* plainPieces(sql: string, from: number, end: number): Generator<Piece, void> {
  for (const { 0: text, index } of sql.slice(from, end).matchAll(PIECE)) yield { text, at: from + index }
}
