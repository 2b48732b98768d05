import { isCachedPlanError } from '../../error-codes.js'
import type { PgConnection } from '../../drivers/pg.js'
import { mayPrepare, nameOf, type PreparableForm, renewText, textOf } from './statement-names.js'
import type { ResultColumns } from '../../fast-path/pg.js'

/** How many statements one connection keeps prepared. Beyond it, the least recently used one is closed. */
const MAX_PREPARED = 200

/** A statement that is prepared on the connection, or will be when its first result arrives. */
export interface PreparedStatement {
  readonly name: string
  /** The SQL, with a comment if it was renewed. */
  readonly renewed: string
  /** The prepared text. */
  readonly text: string
  /** The columns of its results, once the server has named them. */
  columns?: ResultColumns
  /** The types of its parameters, once the server has named them. */
  parameterTypes?: readonly number[]
  /** How many of its executions have no result yet. */
  pending: number
  /** The value of the use counter at the last use. */
  lastUse: number
}

type ServerError = Error & { readonly code?: string; readonly severity?: string }

/** The statements that are prepared on a connection. */
export class PostgresStatements {
  readonly #connection: () => PgConnection
  readonly #statements = new Map<string, PreparedStatement>()
  /** Names of prepared statements that are no longer used. They are closed before the next statement that has values. */
  readonly #obsoleteNames: string[] = []
  /** The end of each text. */
  #suffix = ''
  #useCount = 0
  #renameCount = 0
  /** Whether other clients use the same server connection, so that nothing can be prepared on it. */
  isShared = false

  /** @param connection returns the connection that the statements are prepared on, once it is open. */
  constructor(connection: () => PgConnection) {
    this.#connection = connection
  }

  /** Adds a comment to all texts: a pooler that prepares a text once for all clients keeps them apart from texts without it, or with another one. */
  mark(comment: string): void {
    this.#suffix = ` /* ${comment} */`
  }

  /** Called when the program closes all statements: each is prepared under a new name at its next use, because it is not known yet whether that succeeds. */
  forget(): void {
    for (const [sql, { renewed }] of this.#statements) this.#rename(sql, renewed)
  }

  has(sql: string): boolean {
    return this.#statements.has(sql)
  }

  /** The statement for an execution of the SQL; undefined if it is not prepared. Call {@link giveBack} with its result. */
  take(sql: string, form: PreparableForm | undefined): PreparedStatement | undefined {
    const statement = this.isShared ? undefined : (this.#statements.get(sql) ?? this.#prepare(sql, form))
    if (this.#obsoleteNames.length > 0) this.#closeObsolete()
    if (!statement) return undefined
    statement.lastUse = ++this.#useCount
    statement.pending++
    return statement
  }

  /** Called with the result of an execution. Adds a hint to an error that a shared connection causes. */
  giveBack(sql: string, statement: PreparedStatement, error: ServerError | null): void {
    statement.pending--
    if (error) this.#handleError(sql, statement, error)
  }

  #prepare(sql: string, form: PreparableForm | undefined): PreparedStatement | undefined {
    if (!mayPrepare(sql, form)) return undefined
    if (this.#statements.size >= MAX_PREPARED) this.#evictLeastRecentlyUsed()
    return this.#register(sql, textOf(sql))
  }

  #register(sql: string, renewed: string, newName?: string): PreparedStatement {
    const text = renewed + this.#suffix
    const statement: PreparedStatement = {
      name: newName ?? nameOf(text),
      renewed,
      text,
      pending: 0,
      lastUse: ++this.#useCount,
    }
    this.#statements.set(sql, statement)
    return statement
  }

  // A pending statement must stay: pg records it as prepared when its result arrives.
  #evictLeastRecentlyUsed(): void {
    const idle = [...this.#statements].filter(([, { pending }]) => pending === 0)
    const [first, ...rest] = idle
    if (first === undefined) return
    const [sql, { name }] = rest.reduce((least, other) => (other[1].lastUse < least[1].lastUse ? other : least), first)
    this.#statements.delete(sql)
    this.#obsoleteNames.push(name)
  }

  // Close is a message of the protocol, not a statement: unlike DEALLOCATE it also works in a failed transaction.
  #closeObsolete(): void {
    const connection = this.#connection()
    for (const name of this.#obsoleteNames.splice(0)) {
      connection.close({ type: 'S', name })
      delete connection.parsedStatements[name]
    }
  }

  #handleError(sql: string, statement: PreparedStatement, error: ServerError): void {
    const { name, renewed } = statement
    if (this.#isSharedConnectionError(name, error)) {
      this.isShared = true
      error.message += `. ${SHARED_CONNECTION_HINT}`
    } else if (isCachedPlanError(error) || error.severity === undefined || this.#isOfOtherTypes(name, error)) {
      if (error.severity !== undefined) outdating.add(error)
      if (this.#statements.get(sql)?.name !== name) return
      // Prepared again under another name: executions that were already sent still use this one.
      this.#obsoleteNames.push(name)
      this.#register(sql, renewText(sql, renewed))
    } else if (this.#suffix !== '' && this.#statements.get(sql) === statement) this.#renameUnprepared(sql, statement)
  }

  // The types of its values were inferred from columns that have another type now.
  #isOfOtherTypes(name: string, { code = '', message }: ServerError): boolean {
    const isOfType = TYPE_ERRORS.has(code) || (code === 'XX000' && message.startsWith('cache lookup failed for type'))
    return isOfType && this.#connection().parsedStatements[name] !== undefined
  }

  // In a failed transaction PgBouncer may take a statement for prepared without saying so, and ends the connection if the name is prepared again.
  #renameUnprepared(sql: string, { name, renewed }: PreparedStatement): void {
    if (this.#connection().parsedStatements[name] !== undefined) return
    this.#obsoleteNames.push(name)
    this.#rename(sql, renewed)
  }

  #rename(sql: string, renewed: string): void {
    this.#register(sql, renewed, `${nameOf(renewed + this.#suffix)}_${++this.#renameCount}`)
  }

  // 26000 (no such statement) also follows if preparing failed, for executions of the same SQL that were already sent. pg has then not
  // recorded the statement as prepared.
  #isSharedConnectionError(name: string, { code }: ServerError): boolean {
    return code === '42P05' || (code === '26000' && this.#connection().parsedStatements[name] !== undefined)
  }
}

const SHARED_CONNECTION_HINT =
  'Several clients share this connection, as behind PgBouncer in transaction mode: add prepared_statements=false to the URL of the database'

/** cannot_coerce, datatype_mismatch, undefined_function: that of an operator, too. */
const TYPE_ERRORS: ReadonlySet<string> = new Set(['42846', '42804', '42883'])

/** Errors after which their statement was prepared again. */
const outdating = new WeakSet<ServerError>()

/** Whether a prepared statement can no longer be executed: a table of it was altered, or other clients share the connection. */
export function isOutdatedStatement(error: ServerError): boolean {
  return error.code === '26000' || error.code === '42P05' || isCachedPlanError(error) || outdating.has(error)
}
