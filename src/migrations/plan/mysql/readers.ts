import { lexemesOf } from '../../../db/sql/statement-reader.js'
import { type Change, changesOf, displayOf, displayOfColumn } from '../../difference/change.js'
import type { Table } from '../../../db/catalog/catalog.js'
import type { PlanContext } from '../context.js'

/*
 * MySQL and MariaDB rename and drop what views and triggers name, and leave their texts as they are: these fail when they are used.
 */

/** Notes a problem for each table and each column that is renamed or dropped while a view or a trigger names it. */
export async function refuseReaders(context: PlanContext): Promise<void> {
  const lost = context.changes.flatMap((change) => lostBy(context, change))
  if (lost.length === 0) return
  const readers = (await context.facts.names(READERS)).map(readerOf)
  for (const one of lost) {
    const found = readers.filter((reader) => isRead(context, reader, one)).map(({ display }) => display)
    if (found.length > 0) context.problems.push(problemOf(one, found))
  }
}

/** A table, or a column of one, whose name is no longer there. */
interface Lost {
  /** With the name that the database has now. */
  readonly table: Table
  readonly column?: string
  readonly isDropped: boolean
}

function lostBy(context: PlanContext, change: Change): readonly Lost[] {
  switch (change.kind) {
    case 'rename table':
      return [{ table: change.table, isDropped: false }]
    case 'rename column':
      return [{ table: change.table, column: change.column.name, isDropped: false }]
    case 'drop table':
      return [{ table: change.table, isDropped: true }]
    case 'drop column':
      return [{ table: context.current(change.table) ?? change.table, column: change.column.name, isDropped: true }]
    default:
      return []
  }
}

function problemOf({ table, column, isDropped }: Lost, readers: readonly string[]): string {
  const name = column === undefined ? displayOf(table) : displayOfColumn(table, column)
  const it = readers.length === 1 ? 'it' : 'them'
  return isDropped
    ? `--drop ${name}: ${readers.join(', ')} would fail without it. Drop ${it} first.`
    : `${name} is renamed: ${readers.join(', ')} would fail, as the server does not rename it there. Drop ${it} first, and create ${it} again once ${name} has its new name.`
}

const READERS = `SELECT CAST(JSON_ARRAY(TRIGGER_NAME, ACTION_STATEMENT, DATABASE(), EVENT_OBJECT_TABLE, SQL_MODE) AS CHAR) AS name
FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE()
UNION ALL SELECT CAST(JSON_ARRAY(TABLE_NAME, VIEW_DEFINITION, DATABASE()) AS CHAR)
FROM information_schema.VIEWS WHERE TABLE_SCHEMA = DATABASE() ORDER BY 1`

/** A view, or a trigger. */
interface Reader {
  /** `view names`, `trigger added of hero` */
  readonly display: string
  /** The table of a trigger. */
  readonly table: string | undefined
  readonly database: string
  readonly names: readonly Name[]
}

/** `name`, `NEW.name`, `hero.name`: its parts in small letters. */
interface Name {
  readonly parts: readonly string[]
  readonly isFunction: boolean
}

function readerOf(row: string): Reader {
  const [name, text, database, table, mode]: readonly (string | null | undefined)[] = JSON.parse(row)
  // The server writes the texts in a view with single quotes.
  const quotes = table === undefined || mode?.includes('ANSI_QUOTES') === true ? '`"' : '`'
  return {
    display: table === undefined ? `view ${name}` : `trigger ${name} of ${table}`,
    table: table?.toLowerCase(),
    database: database?.toLowerCase() ?? '',
    names: namesIn(text ?? '', quotes),
  }
}

const WORD = /^[\p{L}\p{N}_$]/u

/** What may be the name of a table or a column: not what follows AS, which is a new name. */
function namesIn(sql: string, quotes: string): readonly Name[] {
  const lexemes = [...lexemesOf(sql, 'mysql')]
  const isName = (lexeme = '') => quotes.includes(lexeme.charAt(0) || ' ') || WORD.test(lexeme)
  const names: Name[] = []
  for (let at = 0; at < lexemes.length; at++) {
    if (!isName(lexemes[at])) continue
    const start = at
    while (lexemes[at + 1] === '.' && isName(lexemes[at + 2])) at += 2
    if (lexemes[start - 1]?.toUpperCase() === 'AS') continue
    const parts = lexemes.slice(start, at + 1).filter((_, index) => index % 2 === 0)
    names.push({ parts: parts.map(plainName), isFunction: WORD.test(lexemes[at] ?? '') && lexemes[at + 1] === '(' })
  }
  return names
}

function plainName(lexeme: string): string {
  const quote = lexeme.charAt(0)
  return (WORD.test(lexeme) ? lexeme : lexeme.slice(1, -1).replaceAll(quote + quote, quote)).toLowerCase()
}

function isRead(context: PlanContext, reader: Reader, { table, column, isDropped }: Lost): boolean {
  if (reader.table !== undefined && isDropped && isDroppedTable(context, reader.table)) return false
  const name = table.name.toLowerCase()
  const namesTable = reader.names.some(({ parts }) => isTable(reader, parts, name))
  if (column === undefined) return namesTable
  return reader.names.some(({ parts, isFunction }) => {
    if (isFunction || parts.at(-1) !== column.toLowerCase()) return false
    const qualifier = parts.at(-2)
    if (qualifier === 'new' || qualifier === 'old') return reader.table === name
    return namesTable && mayBeColumn(reader, parts, name)
  })
}

/** Its triggers go with a table. */
function isDroppedTable(context: PlanContext, name: string): boolean {
  return changesOf(context.changes, 'drop table').some(({ table }) => table.name.toLowerCase() === name)
}

/** `hero`, `hero.name`, `museum.hero`, `museum.hero.name` */
function isTable({ database }: Reader, [first, second]: readonly string[], name: string): boolean {
  return first === name || (first === database && second === name)
}

/** Another table may stand before the column: an alias is not known to be one. */
function mayBeColumn({ database }: Reader, parts: readonly string[], table: string): boolean {
  if (parts.length === 3) return parts[0] === database && parts[1] === table
  return parts.length === 1 || parts[0] !== database || parts[0] === table
}
