import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { markJsonAsText } from '../../models/json-text.js'
import type { QueryOptions } from '../../sequelize/query.js'
import { sequelizeInternals } from '../../sequelize/internals.js'

interface Options extends QueryOptions {
  readonly model?: ModelStatic<Model>
  readonly raw?: boolean
  tableNames?: readonly string[]
}

/** Makes queries with raw SQL read the values of rows in the same way as queries that Sequelize generates. */
export function adaptQueries(sequelize: Sequelize): void {
  const { dialect } = sequelizeInternals(sequelize)
  dialect.Query = class extends dialect.Query {
    declare readonly options: Options

    override async run(sql: string, parameters?: unknown): Promise<unknown> {
      const { options } = this
      // Sequelize reads the column types of these tables. For raw SQL it finds no table name, as it searches for "FROM `name`".
      if (options.model && !options.raw) options.tableNames ??= [String(options.model.getTableName())]
      const result = await super.run(sql, parameters)
      if (options.raw) markJsonAsText(result)
      return result
    }

    // Sequelize appends its time zone to every string without a plus: also to a date without a time, and after "Z" or "-02:00".
    override applyParsers(type: string, value: unknown): unknown {
      if (typeof value !== 'string' || !/^\s*DATETIME\b/i.test(type)) return super.applyParsers(type, value)
      if (hasTimeZone(value)) return new Date(value)
      return super.applyParsers(type, /^\d{4}-\d\d-\d\d$/.test(value) ? `${value} 00:00:00` : value)
    }
  }
}

// True for '12:00:00Z' and '12:00:00+02:00'; false for '2024-01-02', where '-02' is the day.
function hasTimeZone(text: string): boolean {
  const zone = /(?:Z|[+-]\d\d:?\d\d)$/i.exec(text)
  return zone !== null && text.slice(0, zone.index).includes(':')
}
