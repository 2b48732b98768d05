import {
  BareQuery,
  type FieldDescription,
  type PgConnection,
  prepareValue,
  type QueryCallback,
  type SentQuery,
} from '../../drivers/pg.js'
import { REFUSED_WRITE } from '../../error-codes.js'
import { DirectQuery } from '../../fast-path/pg.js'

/** The callbacks for the answer to BEGIN. */
export interface BeginListener {
  begun(): void
  failed(error: Error): void
}

interface HeldStatement {
  send(): void
  fail(error: Error): void
}

/** The last BEGIN of a connection, and the statements that wait for the answer to it: without BEGIN they would be executed on their own. */
export class LastBegin implements BeginListener {
  /** Whether it was sent and is not answered, or has failed: nothing but reads that pass may be sent now. */
  isHolding = false
  /** Whether it is known to be executed. */
  isBegun = false
  /** Whether it has no settings on which the rows of a read depend, and is not sent apart. */
  isBare = false
  #held: HeldStatement[] = []
  /** How many reads have passed it, and are not answered. */
  #passing = 0
  #error: Error | undefined

  /** Whether a read of plain tables need not be held: if BEGIN fails, it is executed on its own, in a session that has failed. A read overtakes no held statement. */
  get letsReadsPass(): boolean {
    return this.isBare && this.#error === undefined && this.#held.length === 0
  }

  /** The callback of a read that passes: what is held fails after it, so that statements fail, and are sent again, in their order. */
  passing(callback: QueryCallback): QueryCallback {
    this.#passing++
    return (error, result) => {
      this.#passing--
      try {
        callback(error, result)
      } finally {
        if (this.#error) this.#failHeld(this.#error)
      }
    }
  }

  /** Sends a statement once BEGIN has succeeded, or fails it with the error of BEGIN. */
  hold(send: () => void, fail: (error: Error) => void): void {
    if (this.#error && this.#passing === 0) process.nextTick(fail, this.#error)
    else this.#held.push({ send, fail })
  }

  begun(): void {
    this.isBegun = true
    this.isHolding = this.#error !== undefined
    for (const { send, fail } of this.#held.splice(0)) {
      try {
        send()
      } catch (error) {
        fail(error as Error) // of a value of the program
      }
    }
  }

  failed(error: Error): void {
    this.#error = error
    this.isHolding = true
    this.#failHeld(error)
  }

  #failHeld(error: Error): void {
    if (this.#passing > 0) return
    for (const { fail } of this.#held.splice(0)) fail(error)
  }
}

/**
 * BEGIN, with the settings of the transaction, and its first statement, all by the extended protocol and with one Sync: after an error the server skips
 * everything up to the Sync, so that the statement is executed only if BEGIN was. Flush lets the server answer BEGIN at once.
 * Source: PostgreSQL, Extended Query.
 */
export class BeginningQuery extends BareQuery {
  /** For pg, which records the statement under it as prepared. Empty until the answers are those of the statement. */
  override name = ''
  override readonly text: string
  override readonly callback: SentQuery['callback']
  /** For pg, which gives it the parsers of its types. */
  readonly _result: unknown
  readonly #begin: readonly string[]
  readonly #first: SentQuery
  readonly #listener: BeginListener
  #unanswered: number
  #connection: PgConnection | undefined
  #refusal: Error | undefined

  /** @param first sent by the extended protocol. */
  constructor(begin: readonly string[], first: SentQuery, listener: BeginListener) {
    super()
    this.#begin = begin
    this.#first = first
    this.#listener = listener
    this.#unanswered = begin.length
    this.text = first.text
    this.callback = first.callback
    this._result = Reflect.get(first, '_result')
  }

  /** Called by pg, as are all methods. */
  override submit(connection: PgConnection): void {
    this.#connection = connection
    for (const text of this.#begin) {
      connection.parse({ name: '', text })
      connection.bind({ statement: '', values: [], valueMapper: prepareValue })
      connection.execute({})
    }
    connection.flush()
    const refusal: unknown = this.#first.submit(connection)
    if (!(refusal instanceof Error)) return
    this.#refusal = refusal
    connection.sync()
  }

  /** Called by the client, with the types of a prepared statement. */
  handleParameterDescription(types: readonly number[]): void {
    if (this.#first instanceof DirectQuery) this.#first.handleParameterDescription(types)
  }

  override handleRowDescription(message: { readonly fields: readonly FieldDescription[] }): void {
    this.#first.handleRowDescription(message)
  }

  override handleDataRow(message: { readonly fields: readonly (string | null)[] }): void {
    this.#first.handleDataRow(message)
  }

  override handleCommandComplete(message: { readonly text: string }): void {
    if (this.#unanswered === 0) return this.#first.handleCommandComplete(message)
    if (--this.#unanswered > 0) return
    this.name = this.#first.name
    this.#listener.begun()
  }

  override handleReadyForQuery(): void {
    if (this.#refusal) this.#first.handleError(this.#refusal)
    else this.#first.handleReadyForQuery()
  }

  // The server reports its changed settings before ReadyForQuery, which there is only one of: a refused write waits for them.
  #reportFirst(error: Error): void {
    const connection = this.#connection
    if (!connection || !isRefusedWrite(error)) return this.#first.handleError(error)
    const report = () => {
      connection.off('readyForQuery', report)
      connection.off('end', report)
      this.#first.handleError(error)
    }
    connection.on('readyForQuery', report)
    connection.on('end', report)
  }

  override handleError(error: Error): void {
    if (this.#unanswered === 0) return this.#reportFirst(error)
    delete this.#connection?.submittedNamedStatements[this.#first.name] // it was skipped
    try {
      this.#first.handleError(error)
    } finally {
      this.#listener.failed(error)
    }
  }
}

/** Whether it is the error of a write that the server refuses. After it, it reports whether it still is a primary. */
function isRefusedWrite(error: Error): boolean {
  return 'code' in error && error.code === REFUSED_WRITE
}

/** Whether SQL is one statement that does not differ between the protocols. A semicolon may separate statements, and COPY loses the Sync. */
export function isExtendable(sql: string): boolean {
  return sql !== '' && !NOT_EXTENDABLE.test(sql)
}

const NOT_EXTENDABLE = /;|\bcopy\b/i
