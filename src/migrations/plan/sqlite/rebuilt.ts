import type { Column, ForeignKey } from '../../../db/catalog/catalog.js'
import type { Change } from '../../difference/change.js'
import { columnsKey } from '../../difference/same.js'
import { columnText, foreignKeyText } from '../definitions.js'
import { quoteList } from '../names.js'
import {
  type ColumnClause,
  type ColumnSql,
  type ConstraintSql,
  readTableSql,
  type TableSql,
} from '../../../db/catalog/sqlite/table-sql.js'

/** @throws Error for a table that is not there, or is made in another way, such as a virtual one. */
export function rebuildableSql(sql = ''): TableSql {
  const table = readTableSql(sql)
  if (!table) throw new Error(`This table cannot be made again: ${sql}`)
  return table
}

/** The table with a change. @returns the same table for a change that is none of its text. */
export function rebuilt(table: TableSql, change: Change): TableSql {
  switch (change.kind) {
    case 'add column':
      return withParts(table, insertColumn(table.parts, readColumn(columnText('sqlite', change.column))))
    case 'drop column':
      return withoutColumn(table, change.column.name)
    case 'alter column':
      return change.parts.includes('identity')
        ? withIdentity(table, change.to)
        : withColumn(table, change.to, change.parts)
    case 'drop column parts':
      return withColumn(table, change.to, change.parts)
    case 'add foreign key':
      return withForeignKey(table, change.foreignKey)
    case 'replace foreign key':
      return withForeignKey(withoutForeignKey(table, change.from), change.foreignKey)
    case 'drop foreign key':
      return withoutForeignKey(table, change.foreignKey)
    case 'drop unique':
      return withoutUnique(table, change.unique.columns)
    case 'change primary key':
      return withParts(table, [
        ...table.parts,
        readConstraint(`PRIMARY KEY (${quoteList('sqlite', change.key.columns)})`),
      ])
    default:
      return table
  }
}

function withParts({ end }: TableSql, parts: TableSql['parts']): TableSql {
  return { parts, end }
}

function readPart(text: string): ColumnSql | ConstraintSql {
  const [part] = rebuildableSql(`CREATE TABLE t (${text})`).parts
  if (!part) throw new Error(`No part of a table: ${text}`)
  return part
}

function readColumn(text: string): ColumnSql {
  const part = readPart(text)
  if (part.kind !== 'column') throw new Error(`No column: ${text}`)
  return part
}

function readConstraint(text: string): ConstraintSql {
  const part = readPart(text)
  if (part.kind !== 'constraint') throw new Error(`No constraint: ${text}`)
  return part
}

/** Columns come before constraints. */
function insertColumn(parts: TableSql['parts'], column: ColumnSql): TableSql['parts'] {
  const at = parts.findIndex(({ kind }) => kind === 'constraint')
  return at < 0 ? [...parts, column] : [...parts.slice(0, at), column, ...parts.slice(at)]
}

export function sameName(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

function withColumn(table: TableSql, to: Column, parts: readonly string[]): TableSql {
  const wanted = readColumn(columnText('sqlite', to))
  const replaced = clausesToReplace(parts, to)
  return withParts(
    table,
    table.parts.map((part) => {
      if (part.kind !== 'column' || !sameName(part.name, to.name)) return part
      const kept = part.clauses.filter(({ kind }) => !replaced.includes(kind))
      const added = wanted.clauses.filter(({ kind }) => replaced.includes(kind))
      return { ...part, type: parts.includes('type') ? wanted.type : part.type, clauses: [...added, ...kept] }
    }),
  )
}

/** A collation that no model states is the table's own: without it, other values would be equal. */
function clausesToReplace(parts: readonly string[], { collation }: Column): readonly ColumnClause['kind'][] {
  return [
    ...(parts.includes('nullable') ? (['not null', 'null'] as const) : []),
    ...(parts.includes('default') ? (['default'] as const) : []),
    ...(parts.includes('type') && collation !== undefined ? (['collate'] as const) : []),
    ...(parts.includes('expression') ? (['generated'] as const) : []),
  ]
}

/** Only the column itself can be the key that SQLite counts. */
function withIdentity(table: TableSql, to: Column): TableSql {
  const wanted = readColumn(
    `${columnText('sqlite', to)} PRIMARY KEY${to.identity === 'autoincrement' ? ' AUTOINCREMENT' : ''}`,
  )
  return withParts(
    table,
    table.parts
      .filter((part) => part.kind === 'column' || part.keyword !== 'PRIMARY')
      .map((part) => (part.kind === 'column' && sameName(part.name, to.name) ? wanted : part)),
  )
}

/** Its CHECKs remain: those of the column go before it. */
function withoutColumn(table: TableSql, name: string): TableSql {
  return withParts(
    table,
    table.parts.filter((part) =>
      part.kind === 'column' ? !sameName(part.name, name) : !part.columns.some((column) => sameName(column, name)),
    ),
  )
}

function withForeignKey(table: TableSql, key: ForeignKey): TableSql {
  return withParts(table, [...table.parts, readConstraint(foreignKeyText('sqlite', key))])
}

function withoutForeignKey(table: TableSql, { columns }: ForeignKey): TableSql {
  return withoutConstraint(table, columns, 'FOREIGN', 'references')
}

function withoutUnique(table: TableSql, columns: readonly string[]): TableSql {
  return withoutConstraint(table, columns, 'UNIQUE', 'unique')
}

/** It may be a constraint of the table, or a clause of its only column. */
function withoutConstraint(
  table: TableSql,
  columns: readonly string[],
  keyword: ConstraintSql['keyword'],
  clause: ColumnClause['kind'],
): TableSql {
  const [only, second] = columns
  const isOther = (part: ColumnSql | ConstraintSql) =>
    part.kind === 'column' || part.keyword !== keyword || columnsKey(part.columns) !== columnsKey(columns)
  return withParts(
    table,
    table.parts.filter(isOther).map((part) => {
      if (part.kind !== 'column' || second !== undefined || part.name !== only) return part
      const gone = clause === 'references' ? [clause, 'deferrable'] : [clause]
      return { ...part, clauses: part.clauses.filter(({ kind }) => !gone.includes(kind)) }
    }),
  )
}
