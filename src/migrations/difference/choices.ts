import type { Catalog, Column, EnumType, Table } from '../../db/catalog/catalog.js'
import { meant } from '../../core/options.js'
import { PlanError } from '../errors.js'
import { displayOf, displayOfColumn, displayOfPart, type DroppablePart } from './change.js'
import { droppableParts } from './column-parts.js'

/** What people decide of a difference: the options of `sequitur migrate diff`, as they are written. */
export interface Choices {
  /** `hero.age:years`, or of a table `hero:heroes`. */
  readonly rename?: readonly string[]
  /**
   * `hero.age`, a table `hero`, an index or a constraint `hero.hero_name`, an enum type `enum_hero_state`; of a column `hero.age.default`, and its NOT NULL
   * `hero.age.not-null`.
   */
  readonly drop?: readonly string[]
  /** `hero.power` is a new column, although one of its type is in the database only. Or a table. */
  readonly new?: readonly string[]
  /** `hero.secret` is not to be in the model, as a comment `// without secret` of its class says. */
  readonly without?: readonly string[]
  /** `hero.power='none'`: the value, as SQL, of rows that have none. */
  readonly backfill?: readonly string[]
  /** `hero.age`, or `hero.age=age::integer`: the new value, as SQL. */
  readonly cast?: readonly string[]
}

/** A column, or a table if `column` is undefined, with its new name. */
export interface Rename {
  readonly table: Table
  readonly column?: Column
  readonly to: string
}

/** The name and the text after the first separator that follows a known name. */
function split(text: string, separator: string, isKnown: (name: string) => boolean): [string, string] | undefined {
  for (let at = text.indexOf(separator); at >= 0; at = text.indexOf(separator, at + 1))
    if (isKnown(text.slice(0, at))) return [text.slice(0, at), text.slice(at + 1)]
  return undefined
}

/** The names of the tables and the columns of a catalog. */
function namesOf({ tables }: Catalog): Map<string, Omit<Rename, 'to'>> {
  const names = new Map<string, Omit<Rename, 'to'>>()
  for (const table of tables) {
    names.set(displayOf(table), { table })
    for (const column of table.columns) names.set(displayOfColumn(table, column.name), { table, column })
  }
  return names
}

/**
 * Those of columns come first: they name the tables as they are in the database.
 *
 * @throws PlanError for a rename of what is not there, and for one without the new name.
 */
export function renamesOf(from: Catalog, texts: readonly string[] = []): readonly Rename[] {
  const renames = texts.map(renameReader(from))
  return [...renames.filter(({ column }) => column), ...renames.filter(({ column }) => !column)]
}

function renameReader(from: Catalog): (text: string) => Rename {
  const names = namesOf(from)
  return (text) => {
    const [name, to = ''] = split(text, ':', (name) => names.has(name)) ?? []
    const what = name === undefined ? undefined : names.get(name)
    if (what && to !== '') return { ...what, to }
    const [wrong = text] = text.split(':')
    if (names.has(wrong)) throw new PlanError(`--rename ${text} has no new name. Write --rename ${wrong}:new_name`)
    throw new PlanError(`--rename ${text}: the database has no ${wrong}. ${meant(wrong, [...names.keys()])}`)
  }
}

/**
 * The values of `hero.power='none'` by the names of columns; undefined for one without `=`.
 *
 * @param option for the message: `--backfill`
 * @throws PlanError for a column that no model has.
 */
export function valuesOf(
  to: Catalog,
  option: string,
  texts: readonly string[] = [],
): ReadonlyMap<string, string | undefined> {
  const names = namesOf(to)
  return new Map(
    texts.map((text) => {
      const [name = text, value] = split(text, '=', (name) => names.has(name)) ?? []
      if (names.get(name)?.column) return [name, value?.trim() === '' ? undefined : value]
      const wrong = text.split('=')[0] ?? text
      const columns = [...names].flatMap(([display, { column }]) => (column === undefined ? [] : display))
      throw new PlanError(`${option} ${text}: no model has the column ${wrong}. ${meant(wrong, columns)}`)
    }),
  )
}

/** @throws PlanError for a name that neither a column nor a table of the models has. */
export function refuseUnknownNews(to: Catalog, texts: readonly string[] = []): void {
  const names = namesOf(to)
  const wrong = texts.find((text) => !names.has(text))
  if (wrong !== undefined)
    throw new PlanError(`--new ${wrong}: no model has ${wrong}. ${meant(wrong, [...names.keys()])}`)
}

/** What of the database is to be dropped. */
export interface Drop {
  readonly kind: 'table' | 'column' | 'index' | 'unique' | 'foreign key' | 'enum' | DroppablePart
  /** `hero.age` */
  readonly name: string
  /** Whether the name is that of its columns: SQLite has constraints without a name. */
  readonly isUnnamed?: boolean
}

/** @throws PlanError for what is not there. */
export function dropsOf(from: Catalog, texts: readonly string[] = []): ReadonlyMap<string, Drop> {
  const all = droppableIn(from)
  const named = all.filter(({ isUnnamed }) => isUnnamed !== true).map((drop) => [drop.name, drop] as const)
  // With its kind before it: an index may have the name of a column.
  const known = new Map([...all.map((drop) => [`${drop.kind} ${drop.name}`, drop] as const), ...named])
  const found = texts.map((text) => {
    const drop = known.get(text)
    if (drop) return drop
    throw new PlanError(`--drop ${text}: the database has no ${text}. ${meant(text, [...known.keys()])}`)
  })
  return new Map(found.map((drop) => [isKey(drop) ? `${drop.kind} ${drop.name}` : drop.name, drop]))
}

// What comes later has the name: a column before an index, and each of them before a part of a column.
function droppableIn({ tables, enums }: Catalog): Drop[] {
  return [
    ...tables.flatMap((table) => table.columns.flatMap((column) => partsOf(table, column))),
    ...enums.map((type: EnumType): Drop => ({ kind: 'enum', name: displayOf(type) })),
    ...tables.flatMap((table) => [
      { kind: 'table' as const, name: displayOf(table) },
      ...keys(table, 'index', table.indexes),
      ...keys(table, 'unique', table.uniques),
      ...keys(table, 'foreign key', table.foreignKeys),
      ...table.columns.map(({ name }) => ({ kind: 'column' as const, name: displayOfColumn(table, name) })),
    ]),
  ]
}

function partsOf(table: Table, column: Column): Drop[] {
  return droppableParts(table, column).map((part) => ({ kind: part, name: displayOfPart(table, column.name, part) }))
}

/** Whether it may have the name of a column. */
function isKey({ kind }: Drop): boolean {
  return kind === 'index' || kind === 'unique' || kind === 'foreign key'
}

function keys(table: Table, kind: Drop['kind'], items: readonly Key[]): Drop[] {
  return items.map((item) => ({ kind, name: displayOfKey(table, item), isUnnamed: item.name === undefined }))
}

type Key = Table['indexes'][number] | Table['uniques'][number]

/** `hero.hero_name_key`; of one without a name its columns: `hero.name, age`. */
export function displayOfKey(table: Table, { name, columns }: Key): string {
  const texts = columns.map((column) => (typeof column === 'string' ? column : (column.column ?? column.expression)))
  return displayOfColumn(table, name ?? texts.join(', '))
}
