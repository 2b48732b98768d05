import { StatementReader, WORD } from './statement-reader.js'

/** In characters: the longest summary, as the conventions of OpenTelemetry require, and how much of a statement is read for it. */
const MAX_SUMMARY = 255
const MAX_READ = 8_000

/**
 * The operations and tables of a statement, in their order: `INSERT shipping SELECT orders`. Contains no values and no aliases, and each table by one name,
 * however it is written, so that it names a class of statements (`db.query.summary` of OpenTelemetry).
 */
export function summarizeQuery(sql: string, dialect: string): string {
  return new Summary(dialect).of(sql.slice(0, MAX_READ))
}

class Summary extends StatementReader {
  readonly #dialect: string
  #text = ''
  #isFull = false

  constructor(dialect: string) {
    super()
    this.#dialect = dialect
  }

  of(sql: string): string {
    this.readAll(sql, this.#dialect)
    return this.#text
  }

  protected override get isFull(): boolean {
    return this.#isFull
  }

  protected override addOperation(word: string): void {
    this.#add(word)
  }

  protected override addTable(parts: readonly string[]): void {
    this.#add(parts.map((part) => normalName(part, this.#dialect)).join(''))
  }

  #add(part: string): void {
    const length = this.#text.length + (this.#text === '' ? 0 : 1) + part.length
    if (this.#isFull || length > MAX_SUMMARY) this.#isFull = true
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
