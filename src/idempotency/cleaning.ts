import { AsyncResource } from 'node:async_hooks'
import { literal, type ModelStatic, Op } from 'sequelize'
import { isMysql } from '../db/is-mysql.js'
import { runningDatabases } from '../db/database.js'
import type { IdempotencyRecord } from './record.js'
import { isConflict, nowIn, perTable } from './statements.js'

/** Milliseconds between two cleanings of a process. */
const PAUSE = 60_000
/** Rows that one transaction deletes: it holds their locks, and on SQLite the one of all writers. */
const MOST = 200
/** How many of these one cleaning has: a trigger may insert again what is deleted. */
const TRANSACTIONS = 1_000

/** Where no request is known: the sessions of the cleaning are not those of one. */
const outside = new AsyncResource('sequitur.idempotency')

/** Up to the time of the database. */
interface Bound {
  readonly [Op.lte]: ReturnType<typeof literal>
}

/** Deletes the rows of a model that have expired, at most once a minute, after requests. */
class Cleaning {
  readonly #model: ModelStatic<IdempotencyRecord>
  #last = -Infinity
  #isRunning = false

  constructor(model: ModelStatic<IdempotencyRecord>) {
    this.#model = model
  }

  /** Called for each request. @param report receives an error of the database. */
  begin(report: (error: unknown) => void): void {
    if (this.#isRunning || performance.now() - this.#last < PAUSE) return
    this.#last = performance.now()
    this.#isRunning = true
    void outside.runInAsyncScope(() => this.#deleteAll(report))
  }

  async #deleteAll(report: (error: unknown) => void): Promise<void> {
    try {
      for (let n = 0; n < TRANSACTIONS; n++) if (!(await this.#deleteSome())) return
    } catch (error) {
      if (!isConflict(error)) report(error) // else the next cleaning finds them
    } finally {
      this.#isRunning = false
    }
  }

  /** Returns whether there may be more. A trigger, or a policy of the table, may keep rows: they are found again by the next cleaning. */
  async #deleteSome(): Promise<boolean> {
    const database = runningDatabases().find((one) => one.isRunning && one.sequelize === this.#model.sequelize)
    if (!database) return false
    const dialect = database.sequelize.getDialect()
    // By default, MySQL also locks the places of rows that another process has deleted: no one could insert one there.
    const needs = isMysql(dialect) ? { isolation: 'READ COMMITTED' } : {}
    const lock = dialect === 'postgres' ? { lock: true, skipLocked: true } : {}
    return database.during(() =>
      database.session(async () => {
        const expires = { [Op.lte]: literal(nowIn(dialect)) }
        const rows = await this.#model.findAll({
          attributes: ['id'],
          where: { expires },
          limit: MOST,
          order: ['expires'],
          ...lock,
        })
        const ids = rows.map(({ id }) => id)
        return ids.length > 0 && (await this.#delete(ids, expires, isMysql(dialect))) > 0 && ids.length === MOST
      }, needs),
    )
  }

  // MySQL locks what it reads to find the rows of a DELETE: of one id, only its row.
  async #delete(ids: readonly string[], expires: Bound, oneByOne: boolean): Promise<number> {
    if (!oneByOne) return this.#model.destroy({ where: { expires, id: [...ids] } })
    let deleted = 0
    for (const id of ids) deleted += await this.#model.destroy({ where: { expires, id } })
    return deleted
  }
}

/** The cleaning of a table in an open database: an app that is started again begins anew. */
export const cleaningOf = perTable((model) => new Cleaning(model))
