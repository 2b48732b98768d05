import type { Sequelize } from 'sequelize'
import type { Cursor, CursorStatement } from '../../dialect.js'
import { logStatement, toSequelizeError } from '../../sequelize/query.js'
import { beginnerOf, resultOf } from './direct.js'
import { mysqlConnectionOf, type MysqlConnection, query, type RowStream, streamRows } from '../../drivers/mysql.js'
import { setVariables } from './variables.js'
import type { DirectResult } from '../../direct-statement.js'

/*
 * The rows of one statement, which the server continues to send while the driver takes them. Its limits are for whole statements, and for the time in which
 * it cannot send: they are lifted until the end, and the connection is closed if that is not reached.
 */

/** MariaDB has the first, MySQL the second. A variable that the server does not know is skipped. */
const LIMITS = { max_statement_time: 0, max_execution_time: 0, net_write_timeout: 31_536_000 } as const

export async function openCursor(
  sequelize: Sequelize,
  given: unknown,
  { sql, values }: CursorStatement,
): Promise<Cursor> {
  const connection = mysqlConnectionOf(given)
  const asSequelizeError = (error: unknown) =>
    toSequelizeError(sequelize, error as Error, { connection, text: sql, values }) // of a driver
  try {
    await beginnerOf(given)?.begun()
    for (const [name, most] of Object.entries(LIMITS))
      await setVariables(connection, `@sequitur_${name} = @@SESSION.${name}, SESSION ${name} = ${most}`)
  } catch (error) {
    throw asSequelizeError(error)
  }
  const limit = await statementLimit(connection)
  logStatement(sequelize, sql)
  return new MysqlCursor(connection, streamRows(given, sql, values), limit, asSequelizeError)
}

/** The milliseconds that the session allows a statement; here they are for a batch. 0 for no limit. */
async function statementLimit(connection: MysqlConnection): Promise<number> {
  const found = await query(connection, LIMIT_OF_SESSION)
  const [row] = Array.isArray(found) ? (found as readonly { readonly milliseconds: unknown }[]) : [] // as the SQL names it
  return Number(row?.milliseconds ?? 0)
}

const LIMIT_OF_SESSION =
  'SELECT CAST(COALESCE(@sequitur_max_execution_time, @sequitur_max_statement_time * 1000, 0) AS UNSIGNED) AS milliseconds'

class MysqlCursor implements Cursor {
  readonly #connection: MysqlConnection
  readonly #stream: RowStream
  readonly #rows: AsyncIterator<unknown>
  readonly #limit: number
  readonly #asSequelizeError: (error: unknown) => Error
  #hasEnded = false

  constructor(
    connection: MysqlConnection,
    stream: RowStream,
    limit: number,
    asSequelizeError: (error: unknown) => Error,
  ) {
    this.#connection = connection
    this.#stream = stream.on('error', () => {}) // also found by the next read()
    this.#rows = stream[Symbol.asyncIterator]()
    this.#limit = limit
    this.#asSequelizeError = asSequelizeError
  }

  get leavesConnectionFree(): boolean {
    return this.#hasEnded
  }

  async read(count: number): Promise<DirectResult> {
    let timeout: Error | undefined
    const giveUp = () => this.#stream.destroy((timeout = statementTimeout()))
    const timer = this.#limit > 0 ? setTimeout(giveUp, this.#limit) : undefined
    try {
      return resultOf(await this.#next(count), this.#connection)
    } catch (error) {
      this.#hasEnded = timeout === undefined
      throw this.#asSequelizeError(timeout ?? error)
    } finally {
      clearTimeout(timer)
    }
  }

  async #next(count: number): Promise<unknown[]> {
    const rows: unknown[] = []
    while (rows.length < count && !this.#hasEnded) {
      const { done, value } = await this.#rows.next()
      if (done) this.#hasEnded = true
      else rows.push(value)
    }
    return rows
  }

  async finish(): Promise<void> {
    for (const name of Object.keys(LIMITS)) await setVariables(this.#connection, `SESSION ${name} = @sequitur_${name}`)
  }

  // The connection is then closed. If it is not, as in the transaction of a test, the remaining rows are dropped.
  abandon(): void {
    this.#stream.close?.()
    this.#stream.destroy()
  }
}

/** As the server has it for a whole statement. */
function statementTimeout(): Error {
  return Object.assign(new Error('The next rows have not arrived in time.'), { errno: 3024 })
}
