import type { Sequelize } from 'sequelize'
import type { Catalog } from '../../db/catalog/catalog.js'
import { isPackageTable } from './package-tables.js'
import { quoteTable } from '../plan/names.js'

/** The name of a table of the program that has rows. */
export async function tableWithRows(sequelize: Sequelize, { kind, tables }: Catalog): Promise<string | undefined> {
  for (const table of tables) {
    if (table.kind !== 'table' || isPackageTable(table)) continue
    const [rows] = await sequelize.query(`SELECT 1 FROM ${quoteTable(kind, table)} LIMIT 1`)
    if (rows.length > 0) return table.name
  }
  return undefined
}
