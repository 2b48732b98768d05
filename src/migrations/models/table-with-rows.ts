import type { Sequelize } from 'sequelize'
import type { Catalog, DatabaseKind } from '../../db/catalog/catalog.js'
import { quoteTable, quoteText } from '../plan/names.js'
import { isPackageTable } from './package-tables.js'

/** The name of a table of the program that has rows, also where policies of PostgreSQL hide them from the account. */
export async function tableWithRows(sequelize: Sequelize, { kind, tables }: Catalog): Promise<string | undefined> {
  for (const table of tables) {
    if (table.kind !== 'table' || isPackageTable(table)) continue
    const [rows] = await sequelize.query(rowOf(kind, quoteTable(kind, table)))
    if (rows.length > 0) return table.name
  }
  return undefined
}

/** A query that returns a row if the table has one. The size of a table is 0 until it has had rows, which no policy hides. */
function rowOf(kind: DatabaseKind, table: string): string {
  if (kind !== 'postgres') return `SELECT 1 FROM ${table} LIMIT 1`
  const relation = `CAST(${quoteText(kind, table)} AS regclass)`
  const sizeOfPartitions = `(SELECT sum(pg_relation_size(relid)) FROM pg_partition_tree(${relation}))`
  return `SELECT 1 WHERE CASE WHEN row_security_active(${relation}) THEN pg_relation_size(${relation}) + coalesce(${sizeOfPartitions}, 0) > 0
    ELSE EXISTS (SELECT 1 FROM ${table}) END`
}
