import {
  type MariadbCommand,
  type MariadbCommandClass,
  type MariadbCore,
  type MariadbStatement,
  type MetaCallback,
  commandClassOf,
  mariadbCoreOf,
} from '../../drivers/mysql.js'
import { readsWithoutCast } from './stored-forms.js'

/**
 * Sends statements on a connection of mariadb, and calls back. The rows are a plain list, without the driver's property `meta`, which the callback gets
 * as its third argument.
 */
export class MariadbSender {
  readonly #core: MariadbCore
  readonly #Command: MariadbCommandClass
  readonly #options: object
  #begin: string | undefined
  #hasBegun = true

  constructor(core: MariadbCore, Command: MariadbCommandClass) {
    this.#core = core
    this.#Command = Command
    // Inherits the options of the connection, which may change.
    this.#options = Object.create(core.opts, { metaAsArray: { value: true } })
  }

  send(statement: MariadbStatement, done: MetaCallback): void {
    if (this.#begin === undefined) this.#send(statement, done)
    else if (this.#core.opts.pipelining && isHarmless(statement.sql)) this.#sendWithBegin(statement, done)
    else this.#beginBefore(done, () => this.#send(statement, done))
  }

  /** Called when the connection was taken from the pool. */
  startLease(): void {
    this.#begin = undefined
    this.#hasBegun = true
  }

  /** BEGIN is sent together with the next statement, if that is harmless without it, and else before it. */
  beginWithNext(begin: string): void {
    this.#begin = begin
    this.#hasBegun = false
  }

  /** Whether the last BEGIN was executed. Until then no statement of its transaction was, unless it is harmless. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  /** For statements that are sent without {@link send}: executes a BEGIN that is not sent yet. */
  begun(): Promise<void> | undefined {
    if (this.#begin === undefined) return undefined
    return new Promise((resolve, reject) => this.#beginBefore((error) => reject(error), resolve))
  }

  #beginBefore(fail: MetaCallback, next: () => void): void {
    this.#sendBegin((error) => (error ? fail(error, undefined, undefined) : next()))
  }

  // One write to the socket, and one answer from it.
  #sendWithBegin(statement: MariadbStatement, done: MetaCallback): void {
    const { socket } = this.#core
    let beginError: Error | null = null
    socket?.cork()
    this.#sendBegin((error) => (beginError = error))
    this.#send(statement, (error, rows, meta) => done(beginError ?? error, rows, meta))
    socket?.uncork()
  }

  #sendBegin(done: (error: Error | null) => void): void {
    const begin = this.#begin ?? ''
    this.#begin = undefined
    this.#send({ sql: begin }, (error) => {
      if (!error) this.#hasBegun = true
      done(error)
    })
  }

  #send(statement: MariadbStatement, done: MetaCallback): void {
    const core = this.#core
    const resolve = (result: unknown) => {
      const [rows, meta] = result as [unknown, unknown] // because of metaAsArray
      done(null, rows, meta)
    }
    const fail = (error: Error) => done(error, undefined, undefined)
    core.addCommand(
      new this.#Command(resolve, (error) => core._logAndReject(fail, error), this.#options, statement),
      true,
    )
  }
}

/** Undefined for a connection that the program wraps, or that returns several results. */
export function mariadbSenderOf(connection: unknown): MariadbSender | undefined {
  const core = mariadbCoreOf(connection)
  return core && !core.opts.multipleStatements ? new MariadbSender(core, fastCommandOf(core)) : undefined
}

/**
 * Whether a statement changes nothing, so that it may be executed even if the BEGIN before it has failed: a SELECT that calls no function, as a stored
 * function may write. True only for simple statements.
 */
export function isHarmless(sql: string): boolean {
  return CALLS_NOTHING.test(sql) && !CHANGES.test(sql)
}

const CALLS_NOTHING = /^SELECT\b(?:[^(]|(?<=\bcount)\((?=\*\)))*$/
const CHANGES = /\b(?:INTO|FOR)\b|:=/i

const fastCommands = new WeakMap<MariadbCommandClass, MariadbCommandClass>()

/** The class of the driver's commands with quicker reading of rows. */
export function fastCommandOf(core: MariadbCore): MariadbCommandClass {
  const Command = commandClassOf(core)
  const known = fastCommands.get(Command) ?? withFewCasts(Command)
  fastCommands.set(Command, known)
  return known
}

/**
 * The driver calls `typeCast` for each value, and allocates about twelve closures for the call. For most types of columns, Sequelize's only calls `next()`: their
 * values are read by the function that `next()` calls.
 */
function withFewCasts(Command: MariadbCommandClass): MariadbCommandClass {
  return class extends Command implements MariadbCommand {
    override setParser(): void {
      const { opts, _columns: columns } = this
      const { typeCast } = opts
      if (typeof typeCast !== 'function' || !columns) return super.setParser()
      this.opts = withoutCast(opts)
      super.setParser()
      this.opts = opts
      const { _parseFunction: functions } = this
      if (functions?.length !== columns.length) return super.setParser()
      for (const [index, column] of columns.entries())
        if (!readsWithoutCast(typeCast, column.type)) functions[index] = this.readCastValue.bind(this, column)
    }
  }
}

const optionsWithoutCast = new WeakMap<object, object>()

function withoutCast(options: object): object {
  const known: object = optionsWithoutCast.get(options) ?? Object.create(options, { typeCast: { value: undefined } })
  optionsWithoutCast.set(options, known)
  return known
}
