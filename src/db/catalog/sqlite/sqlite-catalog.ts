import { QueryTypes, type Sequelize, type Transaction } from 'sequelize'
import type { Catalog, Column, Constraint, ForeignKey, Index, IndexPart, Table, TableName } from '../catalog.js'
import { groupedBy } from '../grouped-by.js'
import {
  COLUMNS,
  type ColumnRow,
  FOREIGN_KEYS,
  type ForeignKeyRow,
  INDEXES,
  type IndexRow,
  TABLES,
  type TableRow,
} from './statements.js'
import { readIndexSql } from './index-sql.js'
import { type ColumnDetails, type TableDetails, tableDetails } from './table-details.js'
import { isKeyword, mentions, wordsOf } from './words.js'

export async function readSqliteCatalog(
  sequelize: Sequelize,
  only: readonly TableName[] | undefined,
  transaction: Transaction | null,
): Promise<Catalog> {
  const names = only === undefined ? null : JSON.stringify(only.map(({ name }) => name))
  const read = <Row extends object>(statement: string) =>
    sequelize.query<Row>(statement, { bind: [names], type: QueryTypes.SELECT, transaction })
  const tables = await read<TableRow>(TABLES)
  const toTable = tableReader(
    tables,
    await read<ColumnRow>(COLUMNS),
    await read<IndexRow>(INDEXES),
    await read<ForeignKeyRow>(FOREIGN_KEYS),
  )
  return { kind: 'sqlite', tables: tables.filter(({ is_wanted }) => is_wanted === 1).map(toTable), enums: [] }
}

function tableReader(
  tables: readonly TableRow[],
  columns: readonly ColumnRow[],
  indexes: readonly IndexRow[],
  foreignKeys: readonly ForeignKeyRow[],
): (table: TableRow) => Table {
  const columnsOf = groupedBy(columns, ({ table_name }) => table_name)
  const indexesOf = groupedBy(indexes, ({ table_name }) => table_name)
  const foreignKeysOf = groupedBy(foreignKeys, ({ table_name }) => table_name)
  const keyOf = (table: string) => keyColumns(columnsOf(table))
  return (row) => {
    const sql = tableDetails(row.type === 'table' ? row.sql : '')
    const own = columnsOf(row.name)
    const parts = [...groupedByIndex(indexesOf(row.name))]
    // A key that is not the number of the row, as that of WITHOUT ROWID or of INTEGER PRIMARY KEY DESC, has an index.
    const isKeyOfRowid = !parts.some(([first]) => first.origin === 'pk')
    return {
      name: row.name,
      kind: row.type === 'table' || row.type === 'view' ? row.type : 'other',
      columns: own.map((column) => toColumn(column, sql, isKeyOfRowid)),
      ...primaryKey(own, sql),
      uniques: parts.filter(([first]) => first.origin === 'u').map((rows) => toUnique(rows, sql)),
      foreignKeys: toForeignKeys(foreignKeysOf(row.name), sql, keyOf),
      indexes: parts.filter(([first]) => first.origin === 'c').map((rows) => toIndex(rows, sql)),
      others: othersOf(row, sql, tables),
    }
  }
}

type IndexRows = readonly [IndexRow, ...IndexRow[]]

function groupedByIndex(rows: readonly IndexRow[]): Iterable<IndexRows> {
  const groups = new Map<string, [IndexRow, ...IndexRow[]]>()
  for (const row of rows) {
    const group = groups.get(row.name)
    if (group) group.push(row)
    else groups.set(row.name, [row])
  }
  return groups.values()
}

function keyColumns(columns: readonly ColumnRow[]): string[] {
  return columns
    .filter(({ pk }) => pk > 0)
    .sort((one, other) => one.pk - other.pk)
    .map(({ name }) => name)
}

function primaryKey(
  columns: readonly ColumnRow[],
  { primaryKeyName: name }: TableDetails,
): { primaryKey?: Constraint } {
  const names = keyColumns(columns)
  if (names.length === 0) return {}
  return { primaryKey: { ...(name === undefined ? {} : { name }), columns: names } }
}

function toColumn(row: ColumnRow, sql: TableDetails, isKeyOfRowid: boolean): Column {
  const text = sql.columns.get(row.name)
  const collation = text?.collation
  return {
    name: row.name,
    type: canonicalType(row.type),
    // A key may be NULL there, by a mistake of its early versions that no program wants.
    nullable: row.notnull === 0 && row.pk === 0,
    ...valueOf(row, text),
    ...identityOf(row, text, isKeyOfRowid),
    ...(collation === undefined || collation.toUpperCase() === 'BINARY' ? {} : { collation: collation.toUpperCase() }),
  }
}

/** `varchar (255)` -> `VARCHAR(255)`: SQLite keeps the text of the type, and compares it without case. */
function canonicalType(type: string): string {
  return type
    .split(/\s+/)
    .join(' ')
    .replace(/ ?([(),]) ?/g, '$1')
    .toUpperCase()
}

const [VIRTUAL, STORED] = [2, 3]

function valueOf({ dflt_value, hidden }: ColumnRow, text: ColumnDetails | undefined): Partial<Column> {
  if (hidden === VIRTUAL || hidden === STORED)
    return { generated: { expression: text?.generated ?? '', stored: hidden === STORED } }
  return dflt_value === null ? {} : { default: dflt_value }
}

/** SQLite chooses the value of a key that is the number of the row. */
function identityOf(
  { type, is_only_key }: ColumnRow,
  text: ColumnDetails | undefined,
  isKeyOfRowid: boolean,
): Partial<Column> {
  if (!is_only_key || type.toUpperCase() !== 'INTEGER' || !isKeyOfRowid) return {}
  return { identity: text?.isAutoincrement ? 'autoincrement' : 'rowid' }
}

function toUnique(rows: IndexRows, sql: TableDetails): Constraint {
  const columns = rows.map(({ column_name }) => column_name ?? '')
  const named = sql.uniques.find((one) => one.name !== undefined && sameNames(one.columns, columns))
  return { ...(named?.name === undefined ? {} : { name: named.name }), columns }
}

function sameNames(some: readonly string[], others: readonly string[]): boolean {
  return (
    some.length === others.length && some.every((name, index) => name.toUpperCase() === others[index]?.toUpperCase())
  )
}

function toIndex(rows: IndexRows, table: TableDetails): Index {
  const [{ name, is_unique, sql }] = rows
  const { where, expressions } = readIndexSql(sql ?? '')
  return {
    name,
    unique: is_unique === 1,
    method: 'btree',
    columns: rows.map((row) => toPart(row, expressions[row.place] ?? '', table)),
    ...(where === undefined ? {} : { where }),
    include: [],
    valid: true,
  }
}

function toPart(
  { column_name, is_descending, collation }: IndexRow,
  expression: string,
  table: TableDetails,
): IndexPart {
  const descending = is_descending === 1
  if (column_name === null) return { expression, descending }
  const own = (table.columns.get(column_name)?.collation ?? 'BINARY').toUpperCase()
  return { column: column_name, descending, ...(collation.toUpperCase() === own ? {} : { collation }) }
}

// SQLite lists them from the last to the first.
function toForeignKeys(
  rows: readonly ForeignKeyRow[],
  sql: TableDetails,
  keyOf: (table: string) => readonly string[],
): ForeignKey[] {
  const groups = groupedBy(rows, ({ id }) => String(id))
  return sql.foreignKeys.flatMap((text, index) => {
    const [first, ...rest] = groups(String(sql.foreignKeys.length - 1 - index))
    if (!first) return []
    const all = [first, ...rest]
    return {
      ...text,
      columns: all.map(({ from }) => from),
      table: { name: first.target },
      references: first.to === null ? keyOf(first.target) : all.map(({ to }) => to ?? ''),
      onDelete: first.on_delete,
      onUpdate: first.on_update,
      validated: true,
    }
  })
}

function othersOf(row: TableRow, { checks }: TableDetails, tables: readonly TableRow[]): string[] {
  return [
    ...checks.map((check) => `check ${check}`),
    ...tables.flatMap(({ type, name, table_name, sql }) => {
      if (type === 'trigger') return table_name === row.name ? `trigger ${name}` : []
      return type === 'view' && name !== row.name && mentions(sql, row.name) ? `view ${name}` : []
    }),
    ...(row.is_without_rowid ? ['without rowid'] : []),
    ...(row.is_strict ? ['strict'] : []),
    ...(row.type === 'table' ? conflictsOf(row.sql) : []),
  ]
}

/** `on conflict replace`, which a column or a constraint has. */
function conflictsOf(sql: string): string[] {
  const words = wordsOf(sql)
  const found = words.flatMap((word, index) =>
    isKeyword(word, 'CONFLICT') && isKeyword(words[index - 1], 'ON')
      ? [words[index + 1]?.value.toLowerCase() ?? '']
      : [],
  )
  return [...new Set(found)].map((resolution) => `on conflict ${resolution}`)
}
