import { type Model, type ModelStatic, QueryTypes, type Sequelize } from 'sequelize'
import { queryGeneratorOf } from '../sequelize/internals.js'

/** An index of a table, or its primary key. */
export interface TableIndex {
  readonly name: string
  readonly unique: boolean
  /** Whether it has every row, in order: no partial index, and none of another kind than a B-tree. */
  readonly sortsAllRows: boolean
  readonly columns: readonly IndexColumn[]
}

export interface IndexColumn {
  /** Undefined for an expression, or a prefix of a column. */
  readonly name: string | undefined
  readonly descending: boolean
}

/**
 * The indexes of a model's table. Sequelize's showIndex() leaves out whether an index is partial, the tables of PostgreSQL that are partitioned,
 * and on MariaDB whether an index is unique.
 *
 * @returns none for a view, a table that does not exist, and a database of another kind.
 */
export async function indexesOf(sequelize: Sequelize, model: ModelStatic<Model>): Promise<readonly TableIndex[]> {
  const dialect = sequelize.getDialect()
  if (!(dialect in QUERIES)) return []
  const table = queryGeneratorOf(sequelize).quoteTable(model.getTableName())
  // PostgreSQL reads the quoted name, with its schema; the others have a plain one.
  const name = dialect === 'postgres' ? table : table.replaceAll('`', '')
  const rows = await sequelize.query<IndexRow>(QUERIES[dialect as keyof typeof QUERIES], {
    bind: [name],
    type: QueryTypes.SELECT,
  })
  const names = [...new Set(rows.map((row) => row.index_name))]
  return names.map((index) => toIndex(rows.filter((row) => row.index_name === index)))
}

/** One column of an index. Drivers return booleans as such, or as numbers, also of type bigint. */
interface IndexRow {
  readonly index_name: string
  readonly is_unique: unknown
  readonly sorts_all_rows: unknown
  readonly column_name: string | null
  readonly is_descending: unknown
}

function toIndex(rows: readonly IndexRow[]): TableIndex {
  return {
    name: rows[0]?.index_name ?? '',
    unique: rows.every((row) => isTrue(row.is_unique)),
    sortsAllRows: rows.every((row) => isTrue(row.sorts_all_rows)),
    columns: rows.map((row) => ({ name: row.column_name ?? undefined, descending: isTrue(row.is_descending) })),
  }
}

function isTrue(value: unknown): boolean {
  return Number(value) === 1
}

const MYSQL = `SELECT INDEX_NAME AS index_name, NON_UNIQUE = 0 AS is_unique, INDEX_TYPE = 'BTREE' AS sorts_all_rows,
  IF(SUB_PART IS NULL, COLUMN_NAME, NULL) AS column_name, COLLATION = 'D' AS is_descending
FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = $1
ORDER BY INDEX_NAME, SEQ_IN_INDEX`

// The key of SQLite's rowid is no index in its list.
const SQLITE = `SELECT i.name AS index_name, i."unique" AS is_unique, NOT i.partial AS sorts_all_rows,
  c.name AS column_name, c."desc" AS is_descending, c.seqno AS place
FROM pragma_index_list($1) AS i, pragma_index_xinfo(i.name) AS c WHERE c.key
UNION ALL SELECT 'PRIMARY KEY', 1, 1, name, 0, pk FROM pragma_table_info($1) WHERE pk > 0
ORDER BY index_name, place`

const POSTGRES = `SELECT c.relname AS index_name, i.indisunique AS is_unique,
  i.indpred IS NULL AND i.indisvalid AND m.amname = 'btree' AS sorts_all_rows,
  a.attname AS column_name, i.indoption[place - 1] & 1 AS is_descending
FROM pg_catalog.pg_index AS i
  JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_am AS m ON m.oid = c.relam
  CROSS JOIN generate_series(1, i.indnkeyatts) AS place
  LEFT JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[place - 1]
WHERE i.indrelid = to_regclass($1)
ORDER BY c.relname, place`

const QUERIES = { mysql: MYSQL, mariadb: MYSQL, sqlite: SQLITE, postgres: POSTGRES } as const
