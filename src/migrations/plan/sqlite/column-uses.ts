import type { Column, Table } from '../../../db/catalog/catalog.js'
import type { Facts, SqliteObject } from '../facts.js'
import { quote, quoteTable } from '../names.js'
import { rebuildableSql } from './rebuilt.js'
import { type ColumnSql, type ConstraintSql, type TableSql } from '../../../db/catalog/sqlite/table-sql.js'

/** What names the columns of a table that are dropped. */
export interface ColumnUses {
  /** What goes with them: `index hero_age`, `CHECK (age > 0)`. */
  readonly lost: readonly string[]
  /** The indexes of these. */
  readonly indexes: ReadonlySet<string>
  /** The table without its CHECKs of these. */
  readonly table: TableSql
  /** What would fail without them: `view names`, `trigger added`, `column twice`. */
  readonly kept: readonly string[]
}

/**
 * SQLite finds them itself: where it writes another name, when the columns are renamed in a copy, they are used.
 *
 * @param before the statements after which the objects are those of the database.
 * @throws Error if SQLite cannot read a trigger or a view of the database.
 */
export async function usesOf(
  facts: Facts,
  before: readonly string[],
  objects: readonly SqliteObject[],
  table: Table,
  columns: readonly Column[],
): Promise<ColumnUses> {
  const marker = markerFor(objects)
  const renames = columns.map(
    ({ name }, index) =>
      `ALTER TABLE ${quoteTable('sqlite', table)} RENAME COLUMN ${quote('sqlite', name)} TO ${marker}${index}`,
  )
  const renamed = await facts.simulate([...before, ...renames])
  const users = renamed.filter(({ sql }) => sql.includes(marker))
  const isOwn = ({ type, name }: SqliteObject) => type === 'table' && name.toLowerCase() === table.name.toLowerCase()
  const indexes = users.filter(({ type }) => type === 'index').map(({ name }) => name)
  const tableIn = (list: readonly SqliteObject[]) => rebuildableSql(list.find(isOwn)?.sql)
  const parts = partsOf(tableIn(objects), tableIn(renamed), marker)
  return {
    lost: [...indexes.map((name) => `index ${name}`), ...parts.lost],
    indexes: new Set(indexes),
    table: parts.table,
    kept: [
      ...parts.kept,
      ...users.filter((one) => one.type !== 'index' && !isOwn(one)).map(({ type, name }) => `${type} ${name}`),
    ],
  }
}

/** A name that is nowhere in the database. */
function markerFor(objects: readonly SqliteObject[]): string {
  let marker = 'dropped_column_'
  while (objects.some(({ sql }) => sql.includes(marker))) marker += '_'
  return marker
}

/** The parts of a table, next to those in which the columns have other names. */
function partsOf(table: TableSql, renamed: TableSql, marker: string): Pick<ColumnUses, 'lost' | 'kept' | 'table'> {
  const lost: string[] = []
  const kept: string[] = []
  const parts = table.parts.flatMap((part, index): readonly (ColumnSql | ConstraintSql)[] => {
    const other = renamed.parts[index]
    if (part.kind === 'column' && other?.kind === 'column') return [columnPart(part, other, marker, { lost, kept })]
    if (part.kind === 'column' || other?.kind !== 'constraint' || !other.text.includes(marker)) return [part]
    const isOfOthers = part.keyword === 'FOREIGN' && !other.columns.some((name) => name.startsWith(marker))
    ;(isOfOthers ? kept : lost).push(part.text)
    return part.keyword === 'CHECK' ? [] : [part]
  })
  return { lost, kept, table: { parts, end: table.end } }
}

/** The column without its CHECKs of the dropped ones. It may itself be one of them. */
function columnPart(
  column: ColumnSql,
  renamed: ColumnSql,
  marker: string,
  { lost, kept }: { readonly lost: string[]; readonly kept: string[] },
): ColumnSql {
  if (renamed.name.startsWith(marker)) return column
  const isUsed = (index: number) => renamed.clauses[index]?.text.includes(marker) ?? false
  const used = column.clauses.filter((_, index) => isUsed(index))
  lost.push(...used.filter(({ kind }) => kind === 'check').map(({ text }) => text))
  if (used.some(({ kind }) => kind !== 'check')) kept.push(`column ${column.name}`)
  return { ...column, clauses: column.clauses.filter(({ kind }, index) => kind !== 'check' || !isUsed(index)) }
}
