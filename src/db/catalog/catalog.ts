/** The databases whose catalogs can be read. */
export type DatabaseKind = 'postgres' | 'mysql' | 'mariadb' | 'sqlite'

/** The tables of a database, as the engine itself describes them. */
export interface Catalog {
  readonly kind: DatabaseKind
  /** The current one of PostgreSQL, which is left out of the names; undefined if there is none. */
  readonly schema?: string
  readonly tables: readonly Table[]
  /** Only PostgreSQL has enum types of their own. */
  readonly enums: readonly EnumType[]
}

export interface TableName {
  /** Only of PostgreSQL; left out for the current one (the first of `search_path`). */
  readonly schema?: string
  readonly name: string
}

/** `other` is a foreign table of PostgreSQL, a virtual table of SQLite, or a sequence of MariaDB. */
export type TableKind = 'table' | 'view' | 'materialized view' | 'other'

export interface Table extends TableName {
  /** What is no table has columns, and perhaps indexes; nothing of it can be changed here. */
  readonly kind: TableKind
  /** In the order of the table. */
  readonly columns: readonly Column[]
  readonly primaryKey?: Constraint
  /** Constraints; a unique index is one of the indexes. MySQL and MariaDB have only unique indexes. */
  readonly uniques: readonly Constraint[]
  readonly foreignKeys: readonly ForeignKey[]
  /** Without those that belong to a constraint of the table. */
  readonly indexes: readonly Index[]
  readonly comment?: string
  /** The CHECKs of PostgreSQL that name columns, which are among `others`, too. */
  readonly checks?: readonly Constraint[]
  /** What models cannot express, by kind and name: `check hero_age_check`, `trigger hero_touch`, `view hero_names`. */
  readonly others: readonly string[]
  /** As the engine's statistics say; undefined where it has none. */
  readonly estimatedRows?: number
}

export interface Column {
  readonly name: string
  /** As the engine spells it: `character varying(50)`, `int(11)`, `VARCHAR(255)`. */
  readonly type: string
  /** Of a domain of PostgreSQL: the type whose values it limits. */
  readonly baseType?: string
  /** On PostgreSQL the values of the enum type that `type` names; on MySQL and MariaDB those of the type. */
  readonly enumValues?: readonly string[]
  readonly nullable: boolean
  /** Of a column that refuses NULL only because its domain does. */
  readonly notNullByDomain?: true
  /**
   * The expression as the engine writes it: `'x'::character varying`, `current_timestamp()`. On MySQL and MariaDB with escaped backslashes, also where
   * the session's `sql_mode` has NO_BACKSLASH_ESCAPES.
   */
  readonly default?: string
  readonly identity?: Identity
  /** Of a serial column of PostgreSQL that takes its values from a sequence of another one, or of none: `nextval('numbers'::regclass)`. */
  readonly sequence?: string
  /** Of a serial column of PostgreSQL whose own sequence has a smaller type, so that it ends before the column is full. */
  readonly hasNarrowSequence?: boolean
  /** Only where it is not the default one of the table or the database. */
  readonly collation?: string
  readonly comment?: string
  readonly generated?: { readonly expression: string; readonly stored: boolean }
  /** Only of MySQL and MariaDB. */
  readonly attributes?: ColumnAttributes
}

/** What models cannot express of a column, and each MODIFY of it has to repeat. */
export interface ColumnAttributes {
  /** The value that an UPDATE of other columns gives it: `current_timestamp(3)`. */
  readonly onUpdate?: string
  /** Whether `SELECT *` leaves it out. */
  readonly isInvisible?: boolean
  /** Whether a table with SYSTEM VERSIONING keeps none of its old values. */
  readonly isUnversioned?: boolean
  /** The condition of the CHECK that is the column's, on MariaDB: `age > 0`. */
  readonly check?: string
}

/** How the database chooses the value of a key. `rowid`: the INTEGER PRIMARY KEY of SQLite without AUTOINCREMENT. */
export type Identity =
  | 'serial'
  | 'identity always'
  | 'identity by default'
  | 'auto_increment'
  | 'autoincrement'
  | 'rowid'

export interface Constraint {
  /** Undefined for one without a name, on SQLite. */
  readonly name?: string
  readonly columns: readonly string[]
}

export interface ForeignKey extends Constraint {
  readonly table: TableName
  /** The columns of that table, as many as `columns`. */
  readonly references: readonly string[]
  readonly onDelete: Action
  readonly onUpdate: Action
  /** When the key is checked, where that can be put off; undefined for a key that is not deferrable. */
  readonly deferrable?: 'immediate' | 'deferred'
  /** `false` for one of PostgreSQL that is NOT VALID. */
  readonly validated: boolean
}

export type Action = 'NO ACTION' | 'RESTRICT' | 'CASCADE' | 'SET NULL' | 'SET DEFAULT'

export interface Index {
  readonly name: string
  readonly unique: boolean
  /** In lower case: `btree`, `gin`, `fulltext`. */
  readonly method: string
  readonly columns: readonly IndexPart[]
  /** The condition of a partial index, as the engine writes it. */
  readonly where?: string
  readonly include: readonly string[]
  /** `false` for one whose CREATE INDEX CONCURRENTLY failed. */
  readonly valid: boolean
}

/** A column of an index, or an expression. */
export interface IndexPart {
  readonly column?: string
  readonly expression?: string
  readonly descending: boolean
  /** Only where it differs from the default of the direction. */
  readonly nullsFirst?: boolean
  /** Of a prefix: the number of characters, on MySQL and MariaDB. */
  readonly length?: number
  /** Only where it is not the default one of the type. */
  readonly operatorClass?: string
  /** Only where it is not the column's. */
  readonly collation?: string
}

export interface EnumType extends TableName {
  /** In order. */
  readonly values: readonly string[]
}
