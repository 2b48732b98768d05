import type { Table } from '../../../db/catalog/catalog.js'
import { mentions } from '../../../db/catalog/sqlite/words.js'
import { type Change, displayOf } from '../../difference/change.js'
import { typeText } from '../definitions.js'
import type { SqliteObject } from '../facts.js'
import { quote, quoteTable, quoteText } from '../names.js'
import { AT_ONCE, type Phase, type PlacedStep } from '../planned.js'
import type { ColumnUses } from './column-uses.js'
import { rebuildableSql, rebuilt, sameName } from './rebuilt.js'
import { type ColumnSql, type TableSql, writeTableSql } from '../../../db/catalog/sqlite/table-sql.js'

/** The value of a column in the new table, as SQL with the columns of the old one. */
export interface Copy {
  readonly column: string
  readonly value: string
  readonly isNew?: true
}

export interface Rebuild {
  readonly table: Table
  readonly changes: readonly Change[]
  readonly copies: readonly Copy[]
  /** The database as it is before. */
  readonly objects: readonly SqliteObject[]
  /** Where columns are dropped. */
  readonly uses: ColumnUses | undefined
  readonly note: string
  readonly phase: Phase
}

const KIND = 'sqlite'

/**
 * The steps that make a table again, as the manual of SQLite describes them. Foreign keys are not enforced while they run, and are checked before COMMIT, by the
 * one who runs them.
 */
export function rebuildSteps({ table, changes, copies, objects, uses, note, phase }: Rebuild): PlacedStep[] {
  const name = quoteTable(KIND, table)
  const temporary = { ...table, name: freeName(objects, `${table.name}_new`) }
  const old = objects.find((object) => object.type === 'table' && sameName(object.name, table.name))
  if (!old) throw new Error(`There is no table ${table.name}`)
  const before = rebuildableSql(old.sql)
  const after = changes.reduce(rebuilt, uses?.table ?? before)
  const add = (what: string, sql: string, ofNote = AT_ONCE, isPart = true): PlacedStep => ({
    table: displayOf(table),
    phase,
    what,
    note: ofNote,
    code: { kind: 'sql', sql },
    ...(isPart ? { isPart } : {}),
  })
  const others = dependents(objects, table, uses?.indexes)
  return [
    ...others.dropped.map(({ type, name: other }) =>
      add(`drop ${type} ${other}`, `DROP ${type.toUpperCase()} ${quote(KIND, other)}`),
    ),
    add(
      `make the table again: ${[...changes.map(whatOf), ...(uses?.lost ?? []).map((text) => `drop ${text}`)].join(', ')}`,
      writeTableSql(quoteTable(KIND, temporary), after),
      note,
      false,
    ),
    add('copy its rows', copyText(quoteTable(KIND, temporary), name, before, after, copies)),
    ...sequenceTexts(before, after, table.name, temporary.name).map((sql) => add('keep the last key', sql)),
    add('drop the old one', `DROP TABLE ${name}`),
    add('rename the new one', `ALTER TABLE ${quoteTable(KIND, temporary)} RENAME TO ${quote(KIND, table.name)}`),
    ...others.created.map(({ type, name: other, sql }) => add(`make ${type} ${other} again`, sql)),
  ]
}

function freeName(objects: readonly SqliteObject[], wanted: string): string {
  let name = wanted
  for (let number = 2; objects.some((object) => sameName(object.name, name)); number++) name = `${wanted}_${number}`
  return name
}

/** What goes with the table, or would name a table that is not there for a moment; and what of it is made again. */
function dependents(
  objects: readonly SqliteObject[],
  table: Table,
  lost: ReadonlySet<string> = new Set(),
): { readonly dropped: readonly SqliteObject[]; readonly created: readonly SqliteObject[] } {
  const isOwn = (object: SqliteObject) => sameName(object.table, table.name)
  const views = viewsOf(objects, table.name)
  const isDropped = ({ type, sql, name }: SqliteObject) =>
    (type === 'view' && views.has(name)) ||
    (type === 'trigger' && [table.name, ...views].some((mentioned) => mentions(sql, mentioned)))
  const again = objects.filter(
    (object) => isDropped(object) || (object.type === 'index' && isOwn(object) && !lost.has(object.name)),
  )
  // A trigger may be one of a view.
  const order = ['index', 'view', 'trigger']
  return {
    dropped: objects.filter(isDropped).toSorted((one, other) => order.indexOf(other.type) - order.indexOf(one.type)),
    created: again.toSorted((one, other) => order.indexOf(one.type) - order.indexOf(other.type)),
  }
}

/** The views that read a table, or such a view. */
function viewsOf(objects: readonly SqliteObject[], table: string): ReadonlySet<string> {
  const found = new Set<string>()
  const views = objects.filter(({ type }) => type === 'view')
  for (let count = -1; count !== found.size;) {
    count = found.size
    for (const { name, sql } of views)
      if ([table, ...found].some((mentioned) => mentioned !== name && mentions(sql, mentioned))) found.add(name)
  }
  return found
}

function copyText(target: string, source: string, before: TableSql, after: TableSql, copies: readonly Copy[]): string {
  const isStored = ({ clauses }: ColumnSql) => !clauses.some(({ kind }) => kind === 'generated')
  const columns = (table: TableSql) =>
    table.parts.flatMap((part) => (part.kind === 'column' && isStored(part) ? [part] : []))
  const known = new Set(columns(before).map(({ name }) => name.toLowerCase()))
  const pairs = columns(after).flatMap(({ name }) => {
    const copy = copies.find(({ column }) => sameName(column, name))
    const quoted = quote(KIND, name)
    if (copy) return [[quoted, copy.value] as const]
    return known.has(name.toLowerCase()) ? [[quoted, quoted] as const] : []
  })
  const number = rowNumber(before, after)
  if (number !== undefined) pairs.unshift([number, number])
  const names = pairs.map(([column]) => column).join(', ')
  return `INSERT INTO ${target} (${names}) SELECT ${pairs.map(([, value]) => value).join(', ')} FROM ${source}`
}

/** The name of the number of a row, where it is no column: full texts and triggers may refer to it. */
function rowNumber(before: TableSql, after: TableSql): string | undefined {
  const isNumbered = ({ parts, end }: TableSql) => !/\bWITHOUT\s+ROWID\b/i.test(end) && !parts.some(isIntegerKey)
  if (!isNumbered(before) || !isNumbered(after)) return undefined
  const names = new Set([...before.parts, ...after.parts].map(({ name }) => name?.toLowerCase()))
  return ['rowid', '_rowid_', 'oid'].find((name) => !names.has(name))
}

// Such a column is the number of the row, or would become it.
function isIntegerKey(part: TableSql['parts'][number], _: number, parts: TableSql['parts']): boolean {
  if (part.kind !== 'column' || part.type.toUpperCase() !== 'INTEGER') return false
  const isKey = (other: TableSql['parts'][number]) =>
    other.kind === 'constraint' &&
    other.keyword === 'PRIMARY' &&
    other.columns.some((name) => sameName(name, part.name))
  return part.clauses.some(({ kind }) => kind === 'primary key') || parts.some(isKey)
}

// AUTOINCREMENT gives no key twice, also not one whose row was deleted.
function sequenceTexts(before: TableSql, after: TableSql, name: string, temporary: string): string[] {
  const counts = (table: TableSql) =>
    table.parts.some(
      (part) => part.kind === 'column' && part.clauses.some(({ text }) => /\bAUTOINCREMENT\b/i.test(text)),
    )
  if (!counts(before) || !counts(after)) return []
  const [old, now] = [quoteText(KIND, name), quoteText(KIND, temporary)]
  return [
    `DELETE FROM sqlite_sequence WHERE name = ${now}`,
    `INSERT INTO sqlite_sequence (name, seq) SELECT ${now}, seq FROM sqlite_sequence WHERE name = ${old}`,
  ]
}

function whatOf(change: Change): string {
  switch (change.kind) {
    case 'add column':
    case 'drop column':
      return `${change.kind} ${change.column.name}`
    case 'drop column parts':
      return `${change.to.name} ${change.parts.map((part) => partText(part, change.to)).join(', ')}`
    case 'alter column':
      return `${change.to.name} ${change.parts.map((part) => partText(part, change.to)).join(', ')}`
    case 'add foreign key':
    case 'drop foreign key':
    case 'replace foreign key':
      return `${change.kind} ${change.foreignKey.columns.join(', ')} -> ${displayOf(change.foreignKey.table)}`
    default:
      return change.kind
  }
}

function partText(part: string, to: Extract<Change, { kind: 'alter column' }>['to']): string {
  if (part === 'nullable') return to.nullable ? 'NULL' : 'NOT NULL'
  if (part === 'default') return to.default === undefined ? 'without a default' : `DEFAULT ${to.default}`
  return part === 'type' ? typeText(to) : part
}
