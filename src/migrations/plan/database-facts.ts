import { QueryTypes, type Sequelize } from 'sequelize'
import type { Catalog } from '../../db/catalog/catalog.js'
import type { Facts } from './facts.js'
import { quoteTable } from './names.js'
import { tryStatements } from './mysql/trial.js'
import { COUNTED_ROWS } from './planned.js'
import { refusalOf } from './postgres/trial.js'
import { failuresAfter, objectsOf, simulate } from './sqlite/copy.js'

/** What a plan asks the database. Nothing is changed. */
export function databaseFacts(sequelize: Sequelize, { kind }: Catalog): Facts {
  const count = (sql: string) => countOf(sequelize, sql)
  return {
    count,
    names: (sql) => namesOf(sequelize, sql),
    async rows(table) {
      const { estimatedRows = 0 } = table
      if (estimatedRows > COUNTED_ROWS) return estimatedRows
      return count(
        `SELECT count(*) AS count FROM (SELECT 1 AS one FROM ${quoteTable(kind, table)} LIMIT ${COUNTED_ROWS + 1}) AS counted`,
      )
    },
    simulate: async (statements) => (kind === 'sqlite' ? simulate(await objectsOf(sequelize), statements) : []),
    failuresAfter: async (statements) =>
      kind === 'sqlite' ? failuresAfter(await objectsOf(sequelize), statements) : [],
    tryStatements: (tables, steps) => tryStatements(sequelize, tables, steps),
    refusalOf: (before, statements) => refusalOf(sequelize, before, statements),
  }
}

async function countOf(sequelize: Sequelize, sql: string): Promise<number> {
  const [row] = await sequelize.query<{ readonly count: unknown }>(sql, { type: QueryTypes.SELECT })
  return Number(row?.count ?? 0)
}

async function namesOf(sequelize: Sequelize, sql: string): Promise<string[]> {
  const rows = await sequelize.query<{ readonly name: string }>(sql, { type: QueryTypes.SELECT })
  return rows.map(({ name }) => name)
}
