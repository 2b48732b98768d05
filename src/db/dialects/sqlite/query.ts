import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { noteJsonText } from '../../models/json-text.js'
import type { QueryOptions } from '../../sequelize/query.js'
import { sequelizeInternals } from '../../sequelize/internals.js'

interface Options extends QueryOptions {
  readonly raw?: boolean
  tableNames?: readonly string[]
}

/** Makes Sequelize's queries treat rows alike, whether its own text or one of the program's found them. */
export function readRowsAlike(sequelize: Sequelize): void {
  const { dialect } = sequelizeInternals(sequelize)
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
      if (hasZone(value)) return new Date(value)
      return super.applyParsers(type, /^\d{4}-\d\d-\d\d$/.test(value) ? `${value} 00:00:00` : value)
    }
  }
}

// '12:00:00Z', '12:00:00+02:00': a zone is that of a time.
function hasZone(text: string): boolean {
  const zone = /(?:Z|[+-]\d\d:?\d\d)$/i.exec(text)
  return zone !== null && text.slice(0, zone.index).includes(':')
}
