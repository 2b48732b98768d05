import type { Sequelize } from 'sequelize'
import type { Cursor, CursorStatement, DirectResult } from '../../dialect.js'
import { logStatement, toSequelizeError } from '../../sequelize/query.js'
import { beginnerOf, resultOf } from './direct.js'
import { mysqlConnectionOf, type MysqlConnection, type RowStream, streamRows } from './driver.js'
import { setVariables } from './variables.js'

/*
 * The rows of one statement, which the server goes on sending while the driver takes them. Its limits are for whole statements, and for the time in which
 * it cannot send: they are lifted until the end, and the connection is closed if that is not reached.
 */

/** MariaDB has the first, MySQL the second. A variable that the server does not know is left alone. */
const LIMITS = { max_statement_time: 0, max_execution_time: 0, net_write_timeout: 31_536_000 } as const

export async function openCursor(
  sequelize: Sequelize,
  given: unknown,
  { sql, values }: CursorStatement,
): Promise<Cursor> {
  const connection = mysqlConnectionOf(given, sequelize.getDialect())
  const asSequelizeError = (error: unknown) =>
    toSequelizeError(sequelize, error as Error, { connection, text: sql, values }) // of a driver
  try {
    await beginnerOf(given)?.begun()
    for (const [name, most] of Object.entries(LIMITS))
      await setVariables(connection, `@sequitur_${name} = @@SESSION.${name}, SESSION ${name} = ${most}`)
  } catch (error) {
    throw asSequelizeError(error)
  }
  logStatement(sequelize, sql)
  return new MysqlCursor(connection, streamRows(given, sql, values), asSequelizeError)
}

class MysqlCursor implements Cursor {
  readonly #connection: MysqlConnection
  readonly #stream: RowStream
  readonly #rows: AsyncIterator<unknown>
  readonly #asSequelizeError: (error: unknown) => Error
  #hasEnded = false

  constructor(connection: MysqlConnection, stream: RowStream, asSequelizeError: (error: unknown) => Error) {
    this.#connection = connection
    this.#stream = stream.on('error', () => {}) // also found by the next read()
    this.#rows = stream[Symbol.asyncIterator]()
    this.#asSequelizeError = asSequelizeError
  }

  get leavesConnectionFree(): boolean {
    return this.#hasEnded
  }

  async read(count: number): Promise<DirectResult> {
    const rows: unknown[] = []
    try {
      while (rows.length < count && !this.#hasEnded) {
        const { done, value } = await this.#rows.next()
        if (done) this.#hasEnded = true
        else rows.push(value)
      }
    } catch (error) {
      this.#hasEnded = true
      throw this.#asSequelizeError(error)
    }
    return resultOf(rows, this.#connection)
  }

  async finish(): Promise<void> {
    for (const name of Object.keys(LIMITS)) await setVariables(this.#connection, `SESSION ${name} = @sequitur_${name}`)
  }

  // The connection is closed then. Where it is not, as in the transaction of a test, the rows that are left are dropped.
  abandon(): void {
    this.#stream.close?.()
    this.#stream.destroy()
  }
}
