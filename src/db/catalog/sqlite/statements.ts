import type { Action } from '../catalog.js'

/*
 * $1: the names of the tables as JSON; NULL for all of them. What the engine does not say, such as expressions, is read from the SQL of the tables.
 * The table is called sqlite_schema, because Sequelize changes the rows of a statement with its older name.
 */

const NAMES = `($1 IS NULL AND substr(m.name, 1, 7) <> 'sqlite_' OR m.name IN (SELECT value FROM json_each($1)))`

/** Tables and views, but the inner ones of virtual tables; and triggers. What is not wanted may depend on what is. */
export const TABLES = `SELECT m.name, m.tbl_name AS table_name, coalesce(m.sql, '') AS sql,
  coalesce(t.type, m.type) AS type, coalesce(t.wr, 0) AS is_without_rowid, coalesce(t.strict, 0) AS is_strict,
  m.type <> 'trigger' AND ${NAMES} AS is_wanted
FROM sqlite_schema AS m LEFT JOIN pragma_table_list AS t ON t.schema = 'main' AND t.name = m.name AND m.type IN ('table', 'view')
WHERE m.type IN ('table', 'view', 'trigger') AND coalesce(t.type, '') <> 'shadow'
ORDER BY m.type, m.name`

export interface TableRow {
  readonly name: string
  /** Of a trigger. */
  readonly table_name: string
  readonly sql: string
  readonly type: 'table' | 'view' | 'virtual' | 'trigger'
  readonly is_without_rowid: number
  readonly is_strict: number
  readonly is_wanted: number
}

export const COLUMNS = `SELECT m.name AS table_name, c.name, c.type, c."notnull", c.dflt_value, c.pk, c.hidden,
  c.pk = 1 AND max(c.pk) OVER (PARTITION BY m.name) = 1 AS is_only_key
FROM sqlite_schema AS m, pragma_table_xinfo(m.name) AS c
WHERE m.type IN ('table', 'view') AND ${NAMES} AND c.hidden <> 1
ORDER BY m.name, c.cid`

export interface ColumnRow {
  readonly table_name: string
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly dflt_value: string | null
  /** The place in the primary key; 0 for none. */
  readonly pk: number
  /** 2 for a virtual generated column, 3 for a stored one. */
  readonly hidden: number
  readonly is_only_key: number
}

export const INDEXES = `SELECT m.name AS table_name, i.name, i."unique" AS is_unique, i.origin, s.sql,
  c.seqno AS place, c.name AS column_name, c."desc" AS is_descending, c.coll AS collation
FROM sqlite_schema AS m, pragma_index_list(m.name) AS i, pragma_index_xinfo(i.name) AS c
  LEFT JOIN sqlite_schema AS s ON s.type = 'index' AND s.name = i.name
WHERE m.type = 'table' AND ${NAMES} AND c.key
ORDER BY m.name, i.name, c.seqno`

export interface IndexRow {
  readonly table_name: string
  readonly name: string
  readonly is_unique: number
  /** `c` of CREATE INDEX, `u` of UNIQUE, `pk` of PRIMARY KEY. */
  readonly origin: string
  readonly sql: string | null
  readonly place: number
  /** NULL for an expression. */
  readonly column_name: string | null
  readonly is_descending: number
  readonly collation: string
}

export const FOREIGN_KEYS = `SELECT m.name AS table_name, f.id, f."table" AS target, f."from", f."to", f.on_delete, f.on_update
FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f
WHERE m.type = 'table' AND ${NAMES}
ORDER BY m.name, f.id DESC, f.seq`

export interface ForeignKeyRow {
  readonly table_name: string
  readonly id: number
  readonly target: string
  readonly from: string
  /** NULL for the primary key. */
  readonly to: string | null
  readonly on_delete: Action
  readonly on_update: Action
}
