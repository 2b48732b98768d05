import { isRecord } from '../../core/records.js'
import type { Sequelize } from 'sequelize'
import type { SentStatement } from '../../core/events/work-record.js'
import { endsWithin } from '../../core/promises.js'
import type { LeasedConnection } from '../connection.js'
import type { Dialect } from '../dialect.js'
import { sourceOf } from '../events/session-observer.js'
import { NoAnswerError } from '../session/transaction/end-transaction.js'
import { startsWithKeyword } from '../sql/starts-with-keyword.js'
import { type PlanReader, planReaderOf } from './plan-reader.js'
import type { DirectResult, SendDirect } from '../direct-statement.js'
import { injectReplacements } from '../sequelize/replacements.js'
import { sequelizeInternals } from '../sequelize/internals.js'
import { toPlaceholders } from '../statements/statement.js'
import type { SequelizeValues, StatementSource } from '../statements/statement-source.js'

/** Milliseconds to wait for a plan. */
const LIMIT = 1_000

const hasPlan = startsWithKeyword('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'WITH')
/** After a semicolon may come a second statement, which would be executed. Also within a literal: no lexer knows all settings of a server. */
const SEVERAL = /;(?!\s*$)/

/**
 * The plan of a statement of the database, a line for each step. It is not executed.
 *
 * @returns undefined for a statement of another database, or of a kind that has no plan, and while no connection is idle.
 * @throws the driver's error, or a NoAnswerError if there is no plan within a second.
 */
export async function explain(
  sequelize: Sequelize,
  dialect: Dialect,
  statement: SentStatement,
): Promise<readonly string[] | undefined> {
  const sent = sourceOf(statement)
  const reader = planReaderOf(sequelize.getDialect())
  if (!sent || sent.sequelize !== sequelize || !reader || !dialect.direct || !hasPlan(statement.sql)) return undefined
  const bound = toDriverStatement(sequelize, dialect, statement.sql, sent.source)
  if (SEVERAL.test(bound.sql)) return undefined
  const connection = await dialect.acquireIdle?.(sequelize)
  return connection && readWithin(LIMIT, connection, new Explanation(connection, dialect.direct, reader, bound))
}

async function readWithin(
  limit: number,
  connection: LeasedConnection,
  explanation: Explanation,
): Promise<readonly string[]> {
  const reading = explanation.read()
  try {
    if (!(await endsWithin(reading, limit))) throw new NoAnswerError('EXPLAIN', limit)
  } catch (error) {
    await connection.destroy().catch(() => {}) // the first error is the one to report
    throw error
  }
  await connection.release()
  return reading
}

class Explanation {
  readonly #connection: LeasedConnection
  readonly #direct: SendDirect
  readonly #reader: PlanReader
  readonly #statement: DriverStatement

  constructor(connection: LeasedConnection, direct: SendDirect, reader: PlanReader, statement: DriverStatement) {
    this.#connection = connection
    this.#direct = direct
    this.#reader = reader
    this.#statement = statement
  }

  async read(): Promise<readonly string[]> {
    const { prefix, begin, takesValues, linesOf } = this.#reader
    const { sql, values } = this.#statement
    if (begin !== undefined) await this.#send(begin)
    const { rows } = await this.#send(prefix + sql, takesValues ? values : [])
    if (begin !== undefined) await this.#send('ROLLBACK')
    return linesOf(rows.filter(isRecord))
  }

  #send(sql: string, values: readonly unknown[] = []): Promise<DirectResult> {
    return new Promise((resolve, reject) =>
      this.#direct(this.#connection.raw, sql, values, (error, result) => (error ? reject(error) : resolve(result))),
    )
  }
}

/** A statement as the driver takes it. */
export interface DriverStatement {
  readonly sql: string
  readonly values: readonly unknown[]
}

/** @param sql the text that was sent, if the source does not have it. */
export function toDriverStatement(
  sequelize: Sequelize,
  dialect: Dialect,
  sql: string,
  source: StatementSource | undefined,
): DriverStatement {
  if (!source) return { sql, values: [] }
  if ('kind' in source) return { sql: toPlaceholders(source, dialect), values: source.values }
  if ('sql' in source) return source
  return ofSequelize(sequelize, sql, source)
}

function ofSequelize(sequelize: Sequelize, sql: string, source: SequelizeValues): DriverStatement {
  const { dialect, options } = sequelizeInternals(sequelize)
  const replacements = source.replacements ?? (source.query === undefined ? undefined : source.values)
  if (replacements !== undefined) return { sql: injectReplacements(sequelize, sql, replacements), values: [] }
  if (source.bind === undefined) return { sql, values: [] }
  const [text, values = []] = dialect.Query.formatBindParameters(sql, source.bind, options.dialect)
  return { sql: text, values: Array.isArray(values) ? values : [] }
}
