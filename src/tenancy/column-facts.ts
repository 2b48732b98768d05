import { tableNameOf } from '../db/models/table-name.js'
import { QueryTypes, type Sequelize } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { tableColumn } from '../db/startup/table-columns.js'
import type { TenantKind, TenantTable } from './tenant.js'

/*
 * The column of the tenant as databases without policies have it, whatever its model declares. Conditions compare it byte by byte; unique keys and
 * foreign keys compare it as its collation does, for which 'acme' and 'ACME' may be one.
 */

/** The types of columns that hold each tenant as it is. On SQLite, a column of another type makes a number of the text 07. */
const FITTING: Readonly<Record<TenantKind, RegExp>> = {
  integer: /^\w*int/i,
  bigint: /^\w*int/i,
  uuid: /char|clob|text|binary|blob|uuid|^$/i,
  text: /char|clob|text|binary|blob|enum|^$/i,
}

/**
 * Compares the type of the column with that of the model: MySQL compares 7 with a text by its first digits, so that '7b' is 7 as well.
 *
 * @throws BootError for a column that holds numbers where the model has texts, or the other way round.
 */
export function refuseOtherColumnType({ model, column, attribute }: TenantTable, kind: TenantKind): void {
  const type = tableColumn(model, column)?.type
  if (type === undefined || FITTING[kind].test(type)) return
  throw new BootError(
    `tenancy(): the column ${column} of table ${tableNameOf(model)} has the type ${type}, and ${model.name}.${attribute} another one. ` +
      `The database could treat different tenants as one. Give both the same type, in a migration or in the model.`,
  )
}

/** How many characters the column holds; Infinity if that is not limited. MySQL shortens a longer text if it is not strict. */
export function lengthOf({ model, column }: TenantTable): number {
  const [, length] = /(?:char|binary)\((\d+)\)/i.exec(tableColumn(model, column)?.type ?? '') ?? []
  return length === undefined ? Number.POSITIVE_INFINITY : Number(length)
}

/** The collation by which unique keys compare the column, if it may treat different texts as equal; undefined for one that compares bytes. */
export async function looseCollationOf(
  sequelize: Sequelize,
  { model, column }: TenantTable,
): Promise<string | undefined> {
  const query = sequelize.getDialect() === 'sqlite' ? SQLITE : MYSQL
  const bind = [tableNameOf(model), column]
  const rows = await sequelize.query<{ readonly name: string | null }>(query, { bind, type: QueryTypes.SELECT })
  return rows.map(({ name }) => name ?? '').find((name) => name !== '' && !/^binary$|_bin$/i.test(name))
}

const SQLITE = `SELECT DISTINCT c.coll AS name FROM pragma_index_list($1) AS i, pragma_index_xinfo(i.name) AS c
WHERE i."unique" AND c.key AND c.name = $2`

const MYSQL = `SELECT COLLATION_NAME AS name FROM information_schema.COLUMNS
WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = $1 AND COLUMN_NAME = $2`

/** A sentence without its end: how a migration makes keys compare the bytes of the column. */
export function howToCompareBytes(dialect: string, table: TenantTable): string {
  const { model, column } = table
  if (dialect === 'sqlite') return `Create the table with ${column} COLLATE BINARY`
  const length = lengthOf(table)
  const type = Number.isFinite(length) ? `VARCHAR(${length})` : 'VARCHAR(100)'
  return `Write a migration: ALTER TABLE ${tableNameOf(model)} MODIFY ${column} ${type} CHARACTER SET ascii COLLATE ascii_bin NOT NULL`
}
