/*
 * `:names` are the tables, where `wanted` says so. The views of information_schema have their tables in the current database only.
 */

export interface Statements {
  readonly tables: string
  readonly columns: string
  readonly indexes: string
  readonly foreignKeys: string
  readonly checks: string
  readonly triggers: string
  readonly views: string
}

/** @param isMariadb the server says more of a CHECK, and has no indexes of expressions. @param isFiltered whether only some tables are wanted. */
export function statementsFor(isMariadb: boolean, isFiltered: boolean): Statements {
  const wanted = (column: string) => (isFiltered ? `AND ${column} IN (:names)` : '')
  return {
    tables: `SELECT TABLE_NAME AS name, TABLE_TYPE AS type, TABLE_COMMENT AS comment, TABLE_COLLATION AS collation,
  TABLE_ROWS AS estimated, CREATE_OPTIONS AS options
FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() ${wanted('TABLE_NAME')} ORDER BY TABLE_NAME`,
    columns: `SELECT TABLE_NAME AS table_name, COLUMN_NAME AS name, COLUMN_TYPE AS type, IS_NULLABLE AS is_nullable,
  COLUMN_DEFAULT AS value, EXTRA AS extra, COLLATION_NAME AS collation, COLUMN_COMMENT AS comment, GENERATION_EXPRESSION AS expression
FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() ${wanted('TABLE_NAME')} ORDER BY TABLE_NAME, ORDINAL_POSITION`,
    indexes: `SELECT TABLE_NAME AS table_name, INDEX_NAME AS name, NON_UNIQUE AS is_not_unique, INDEX_TYPE AS method,
  COLUMN_NAME AS column_name, ${isMariadb ? 'NULL' : 'EXPRESSION'} AS expression, COLLATION AS direction, SUB_PART AS length
FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() ${wanted('TABLE_NAME')}
ORDER BY TABLE_NAME, INDEX_NAME, SEQ_IN_INDEX`,
    foreignKeys: `SELECT k.TABLE_NAME AS table_name, k.CONSTRAINT_NAME AS name, k.COLUMN_NAME AS column_name,
  IF(k.REFERENCED_TABLE_SCHEMA = DATABASE(), NULL, k.REFERENCED_TABLE_SCHEMA) AS target_schema,
  k.REFERENCED_TABLE_NAME AS target, k.REFERENCED_COLUMN_NAME AS reference, r.DELETE_RULE AS on_delete, r.UPDATE_RULE AS on_update
FROM information_schema.KEY_COLUMN_USAGE AS k
  JOIN information_schema.REFERENTIAL_CONSTRAINTS AS r ON r.CONSTRAINT_SCHEMA = k.CONSTRAINT_SCHEMA
    AND r.TABLE_NAME = k.TABLE_NAME AND r.CONSTRAINT_NAME = k.CONSTRAINT_NAME
WHERE k.TABLE_SCHEMA = DATABASE() AND r.CONSTRAINT_SCHEMA = DATABASE() AND k.REFERENCED_TABLE_NAME IS NOT NULL
  ${wanted('k.TABLE_NAME')}
ORDER BY k.TABLE_NAME, k.CONSTRAINT_NAME, k.ORDINAL_POSITION`,
    checks: isMariadb
      ? `SELECT TABLE_NAME AS table_name, CONSTRAINT_NAME AS name, CHECK_CLAUSE AS clause, LEVEL AS level
FROM information_schema.CHECK_CONSTRAINTS WHERE CONSTRAINT_SCHEMA = DATABASE() ${wanted('TABLE_NAME')}
ORDER BY TABLE_NAME, CONSTRAINT_NAME`
      : `SELECT TABLE_NAME AS table_name, CONSTRAINT_NAME AS name, '' AS clause, 'Table' AS level
FROM information_schema.TABLE_CONSTRAINTS
WHERE TABLE_SCHEMA = DATABASE() AND CONSTRAINT_TYPE = 'CHECK' ${wanted('TABLE_NAME')} ORDER BY TABLE_NAME, CONSTRAINT_NAME`,
    triggers: `SELECT EVENT_OBJECT_TABLE AS table_name, TRIGGER_NAME AS name
FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA = DATABASE() ${wanted('EVENT_OBJECT_TABLE')}
ORDER BY EVENT_OBJECT_TABLE, TRIGGER_NAME`,
    views: `SELECT TABLE_NAME AS name, VIEW_DEFINITION AS definition
FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() ORDER BY TABLE_NAME`,
  }
}

export interface OfTable {
  readonly table_name: string
}

export interface TableRow {
  readonly name: string
  readonly type: string
  readonly comment: string | null
  readonly collation: string | null
  /** A number, also as a bigint or a text. */
  readonly estimated: unknown
  readonly options: string | null
}

export interface ColumnRow extends OfTable {
  readonly name: string
  readonly type: string
  readonly is_nullable: string
  readonly value: string | null
  readonly extra: string
  readonly collation: string | null
  readonly comment: string
  readonly expression: string | null
}

export interface IndexRow extends OfTable {
  readonly name: string
  readonly is_not_unique: unknown
  readonly method: string
  readonly column_name: string | null
  readonly expression: string | null
  /** `D` for a descending one. */
  readonly direction: string | null
  readonly length: unknown
}

export interface ForeignKeyRow extends OfTable {
  readonly name: string
  readonly column_name: string
  readonly target_schema: string | null
  readonly target: string
  readonly reference: string
  readonly on_delete: string
  readonly on_update: string
}

export interface CheckRow extends OfTable {
  readonly name: string
  /** Only of MariaDB. */
  readonly clause: string
  /** `Column` for the one of a column, which has its name; only of MariaDB. */
  readonly level: string
}

export interface TriggerRow extends OfTable {
  readonly name: string
}

export interface ViewRow {
  readonly name: string
  readonly definition: string
}
