import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { noteJsonText } from '../json-text.js'
import { insideOf, type QueryOptions } from '../query.js'

interface Options extends QueryOptions {
  readonly raw?: boolean
  tableNames?: readonly string[]
}

/** Makes Sequelize's queries treat rows alike, whether its own text or one of the program's found them. */
export function readRowsAlike(sequelize: Sequelize): void {
  const { dialect } = insideOf(sequelize)
  dialect.Query = class extends dialect.Query {
    declare readonly options: Options

    override async run(sql: string, parameters?: unknown): Promise<unknown> {
      const { options } = this
      const model = options.model as ModelStatic<Model> | undefined
      // Of the tables named here Sequelize asks the columns' types, by which it reads what they hold.
      if (model && !options.raw) options.tableNames ??= [String(model.getTableName())]
      const result = await super.run(sql, parameters)
      if (options.raw) noteJsonText(result)
      return result
    }

    // Sequelize puts its zone behind every text without a plus, also behind a day alone and behind a zone.
    override applyParsers(type: string, value: unknown): unknown {
      if (typeof value !== 'string' || !/^\s*DATETIME\b/i.test(type)) return super.applyParsers(type, value)
      if (/:.*(?:Z|[+-]\d\d:?\d\d)$/i.test(value)) return new Date(value)
      return super.applyParsers(type, /^\d{4}-\d\d-\d\d$/.test(value) ? `${value} 00:00:00` : value)
    }
  }
}
