import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { markJsonAsText } from '../../models/json-text.js'
import type { QueryOptions } from '../../sequelize/query.js'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { noteState } from './left-state.js'
import { type Increment, incrementError } from './increment-bounds.js'

interface Options extends QueryOptions, Increment {
  readonly model?: ModelStatic<Model>
  readonly raw?: boolean
  /** Whether it is a statement of the session itself, such as COMMIT. */
  readonly isCommand?: boolean
  tableNames?: readonly string[]
}

/** Makes queries with raw SQL read the values of rows in the same way as queries that Sequelize generates. */
export function adaptQueries(sequelize: Sequelize): void {
  const { dialect } = sequelizeInternals(sequelize)
  dialect.Query = class extends dialect.Query {
    declare readonly options: Options

    override async run(sql: string, parameters?: unknown): Promise<unknown> {
      const { options, connection } = this
      if (connection && !options.isCommand) noteState(connection, sql)
      // Sequelize reads the column types of these tables. For raw SQL it finds no table name, because it searches for "FROM `name`".
      if (options.model && !options.raw) options.tableNames ??= [String(options.model.getTableName())]
      const result = await super.run(sql, parameters)
      if (options.raw) markJsonAsText(result)
      return result
    }

    override formatError(error: Error & { parameters?: unknown }, stack?: string): Error {
      delete error.parameters // Sequelize reports the values of a statement only on the other databases
      return super.formatError(incrementError(error, this.options), stack)
    }

    // Sequelize appends its time zone to every string without a plus: also to a date without a time, and after "Z" or "-02:00".
    override applyParsers(type: string, value: unknown): unknown {
      if (typeof value !== 'string' || !isDateTime(type)) return super.applyParsers(type, value)
      const text = value.replace(STORED_DATE, '$1T$2$3')
      if (hasTimeZone(text)) return new Date(text)
      return super.applyParsers('DATETIME', /^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00` : text)
    }
  }
}

/** Whether values of this declared type are read as dates here, and not by Sequelize. */
export function isDateTime(type: string): boolean {
  return /^\s*(?:DATETIME|TIMESTAMP|TIMESTAMPTZ)\b/i.test(type)
}

// As Sequelize stores it: '0001-01-01 00:00:00.000 +00:00'. With a space, JavaScript reads the years 0 to 99 as 1950 to 2049.
const STORED_DATE = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|[+-]\d\d:\d\d)?$/

// True for '12:00:00Z' and '12:00:00+02:00'; false for '2024-01-02', where '-02' is the day.
function hasTimeZone(text: string): boolean {
  const zone = /(?:Z|[+-]\d\d:?\d\d)$/i.exec(text)
  return zone !== null && text.slice(0, zone.index).includes(':')
}
