import { type FindOptions, type Model, type ModelStatic, QueryTypes } from 'sequelize'
import {
  type FoundOptions,
  modelInternals,
  type Query,
  type QueryInterface,
  sequelizeInternals,
  sequelizeOf,
} from './internals.js'

/** The statement that `findAll()` would send, and how it reads the rows. */
export interface ResolvedFind {
  readonly sql: string
  readonly options: FoundOptions
  /** Makes instances of rows, as `findAll()` does, and runs its hooks with them. */
  read(rows: readonly unknown[]): Promise<readonly unknown[]>
}

/** Runs `findAll()` with all its hooks, scopes and options up to the statement, which is not sent. */
export async function resolveFind(model: ModelStatic<Model>, options: FindOptions): Promise<ResolvedFind> {
  const found: FoundOptions[] = []
  const select: QueryInterface['select'] = (_model, _table, resolved) => {
    found.push(resolved)
    return Promise.resolve([])
  }
  class Resolved extends model {
    static get queryInterface() {
      return Object.create(modelInternals(model).queryInterface, { select: { value: select } }) as QueryInterface
    }
  }
  Object.defineProperty(Resolved, 'name', { value: model.name })
  // A list of no rows is no error, and is no concern of hooks.
  const noRows: object = { rejectOnEmpty: false }
  Object.defineProperty(Resolved, 'runHooks', {
    value: (name: string, ...args: readonly unknown[]) =>
      name === 'afterFind' ? Promise.resolve() : modelInternals(model).runHooks(name, ...args),
  })
  await Resolved.findAll({ ...options, ...noRows })
  const [resolved] = found
  if (!resolved)
    throw new TypeError(`${model.name}.findAll() was replaced, so that its statement is not known. Write sql\`...\`.`)
  const given = { ...resolved, type: QueryTypes.SELECT, model }
  const sql = modelInternals(model).queryGenerator.selectQuery(model.getTableName(), given, model)
  return { sql, options: resolved, read: (rows) => readRows(model, given, rows) }
}

async function readRows(
  model: ModelStatic<Model>,
  options: FoundOptions,
  rows: readonly unknown[],
): Promise<readonly unknown[]> {
  const instances = queryOf(model, options).handleSelectQuery(rows) as readonly unknown[] // of a query that is not `plain`
  if (options.hooks !== false) await modelInternals(model).runHooks('afterFind', instances, options)
  return instances
}

/** A query that is not run: it makes instances of rows. */
function queryOf(model: ModelStatic<Model>, options: object): Query {
  const sequelize = sequelizeOf(model)
  const { dialect, options: defaults } = sequelizeInternals(sequelize)
  return new dialect.Query({}, sequelize, { logging: false, ...defaults.query, ...options })
}
