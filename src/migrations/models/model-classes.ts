import type { Catalog, Column, Constraint, DatabaseKind, Index, Table } from '../../db/catalog/catalog.js'
import { columnType, type ColumnType } from './column-types.js'
import { defaultValue } from './default-values.js'
import type { ExistingClass } from './existing-classes.js'
import { indexTexts, isUniqueColumn, unwritableIndexes } from './index-texts.js'
import { commentLines, quoted } from './literals.js'
import type { ColumnMember, ModelClass } from './model-class.js'
import { classNames, classWords, fileOf, keptNames, MEMBERS, Names, propertyNames } from './names.js'
import { underscored, wordsOf } from './words.js'

export interface ClassOptions {
  /** Whether properties have the names of their columns, as far as TypeScript allows it. */
  readonly keepNames?: boolean
  /** The classes that the program has for tables, by {@link tableKey}. */
  readonly existing?: ReadonlyMap<string, ClassInFile>
  /** The files that have no class of a table: `helpers`. */
  readonly files?: readonly string[]
}

/** A class of the program, in a file without its extension. */
export interface ClassInFile {
  readonly existing: ExistingClass
  readonly file: string
}

/** A key of a table: its schema and its name. */
export function tableKey({ schema, name }: { readonly schema?: string; readonly name: string }): string {
  return JSON.stringify([schema ?? null, name])
}

/** The classes for the tables of a catalog, without their associations, in the order of their names. */
export function modelClasses(catalog: Catalog, options: ClassOptions = {}): ModelClass[] {
  const existing = options.existing ?? new Map<string, ClassInFile>()
  const names = new Names([...existing.values()].map((one) => one.existing.name))
  const files = new Names([...(options.files ?? []), ...[...existing.values()].map(({ file }) => file)])
  return catalog.tables
    .toSorted((one, other) => (classWords(one.name).join(' ') < classWords(other.name).join(' ') ? -1 : 1))
    .map((table) => {
      const known = existing.get(tableKey(table))
      const name = known?.existing.name ?? names.take(...classNames(table.name, table.schema))
      const file = known?.file ?? files.take(fileOf(name), `${fileOf(name)}-table`)
      return modelClass(catalog, table, { name, file, existing: known?.existing }, options.keepNames === true)
    })
}

function modelClass(
  catalog: Catalog,
  table: Table,
  { name, file, existing }: Pick<ModelClass, 'name' | 'file' | 'existing'>,
  keepNames: boolean,
): ModelClass {
  const { kind } = catalog
  const key = keyOf(table)
  const columns = table.columns.filter((column) => isWritable(kind, column.name) && !existing?.without.has(column.name))
  const properties = propertiesOf(columns, existing, keepNames)
  const isUnderscored = existing ? existing.underscored : fitsUnderscored(properties)
  const toMember = memberReader(catalog, table, key.columns, isUnderscored)
  const members = properties.map(([property, column]) => ({
    ...toMember(property, column),
    isNew: !existing || !existing.members.some((member) => member.property === property && member.isColumn),
  }))
  return {
    name,
    file,
    table,
    existing,
    words: wordsOf(name),
    columns: members,
    key: members.filter(({ column }) => key.columns.includes(column.name)).map(({ property }) => property),
    underscored: isUnderscored,
    timestamps: hasTimestamps(members),
    indexes: indexTexts(kind, table, new Map(properties.map(([property, column]) => [column.name, property]))),
    notes: [...key.notes, ...leftOut(kind, table), ...sequencesLeftOut(table, key.columns)],
  }
}

/** Sequelize drops the quotes of its dialect from names, and keeps columns as the members of an object. */
export function isWritable(kind: DatabaseKind, name: string): boolean {
  return !name.includes(kind === 'postgres' ? '"' : '`') && !name.includes('\u0000') && name !== '__proto__'
}

function propertiesOf(
  columns: readonly Column[],
  existing: ExistingClass | undefined,
  keepNames: boolean,
): [property: string, column: Column][] {
  const names = new Names([...MEMBERS, ...(existing?.names ?? [])])
  const candidates = (column: Column) => (keepNames ? keptNames(column.name) : propertyNames(column.name))
  return columns.map((column) => [existingProperty(existing, column.name) ?? names.take(...candidates(column)), column])
}

function existingProperty(existing: ExistingClass | undefined, column: string): string | undefined {
  const members = existing?.members.filter(({ isColumn }) => isColumn) ?? []
  const named = members.find(({ field }) => field === column)
  const found = named ?? members.find(({ property, field }) => field === undefined && isNameOf(property, column))
  return found?.property
}

function isNameOf(property: string, column: string): boolean {
  return property === column || underscored(property) === column
}

function fitsUnderscored(properties: readonly (readonly [property: string, column: Column])[]): boolean {
  const count = (nameOf: (property: string) => string) =>
    properties.filter(([property, { name }]) => nameOf(property) !== name).length
  return count(underscored) < count((property) => property)
}

interface Key {
  readonly columns: readonly string[]
  readonly notes: readonly string[]
}

/** The primary key, or what stands in for it: Sequelize adds a column `id` to a model without one. */
function keyOf({ primaryKey, uniques, indexes, columns }: Table): Key {
  if (primaryKey) return { columns: primaryKey.columns, notes: [] }
  const isRequired = (name: string) => columns.some((column) => column.name === name && !column.nullable)
  const unique = [...uniques, ...indexes.flatMap(toUnique)].find((one) => one.columns.every(isRequired))
  if (unique)
    return {
      columns: unique.columns,
      notes: ['The table has no primary key: unique columns stand in for it. Migrations add none.'],
    }
  return {
    columns: columns.filter(({ generated }) => !generated).map(({ name }) => name),
    notes: [
      'The table has no key: all columns stand in for one, so that a change of a row is one of all that equal it. Migrations add none.',
    ],
  }
}

function toUnique({ unique, columns, where }: Index): Constraint[] {
  const names = columns.flatMap(({ column }) => column ?? [])
  return unique && where === undefined && names.length === columns.length ? [{ columns: names }] : []
}

function memberReader(
  { kind, tables }: Catalog,
  table: Table,
  key: readonly string[],
  isUnderscored: boolean,
): (property: string, column: Column) => Omit<ColumnMember, 'isNew'> {
  const identity = countedColumn(table, key)
  return (property, column) => {
    const type = columnType(kind, column)
    const value = column.generated
      ? undefined
      : defaultValue(kind, column === identity ? column : ofSequence(column), type)
    const isKey = key.includes(column.name)
    const isCountedToo = value === undefined && column.identity !== undefined && column !== identity
    // Sequelize would refuse a row without it.
    const mayBeNull = column.nullable || column.generated !== undefined || isCountedToo
    const isOptional = mayBeNull || value !== undefined || column === identity
    return {
      property,
      column,
      options: [
        `type: ${type.model}`,
        ...(isKey ? ['primaryKey: true'] : []),
        ...(column === identity ? identityOptions(column) : []),
        ...(mayBeNull || (isKey && table.primaryKey) ? [] : ['allowNull: false']),
        ...(!isKey && isUniqueColumn(table, column.name) ? ['unique: true'] : []),
        ...(value === undefined ? [] : [`defaultValue: ${value}`]),
        ...((isUnderscored ? underscored(property) : property) === column.name
          ? []
          : [`field: ${quoted(column.name)}`]),
        ...actionsOf(tables, table, column),
      ],
      type: typeText(type, column.nullable, isOptional),
      doc: docOf(table, column),
      isReadonly: column.generated !== undefined,
    }
  }
}

/** The one that Sequelize lets the database count. */
function countedColumn({ columns }: Table, key: readonly string[]): Column | undefined {
  const counted = columns.filter(({ identity }) => identity !== undefined)
  return counted.find(({ name }) => key.includes(name)) ?? counted[0]
}

/** Sequelize lets the database count one column alone: another one states the sequence that its values are from, if that is not its own. */
function ofSequence(column: Column): Column {
  return column.sequence === undefined ? column : { ...column, default: column.sequence }
}

function sequencesLeftOut(table: Table, key: readonly string[]): string[] {
  const others = table.columns.filter(({ identity, sequence }) => identity !== undefined && sequence === undefined)
  return others
    .filter((column) => column !== countedColumn(table, key))
    .map(
      ({ name }) => `Only in the database: the numbers of the column ${inLine(name)}, as Sequelize counts one alone.`,
    )
}

function identityOptions({ identity }: Column): string[] {
  return ['autoIncrement: true', ...(identity?.startsWith('identity') ? ['autoIncrementIdentity: true'] : [])]
}

// On the column, because Sequelize takes them from the first of several associations, which may be of another class. What the database does is
// stated: Sequelize would choose ON DELETE CASCADE by HasMany, also for a key that may be NULL.
function actionsOf(tables: readonly Table[], { foreignKeys }: Table, { name }: Column): string[] {
  const key = foreignKeys.find(({ columns }) => columns.length === 1 && columns[0] === name)
  if (!key || !tables.some((other) => tableKey(other) === tableKey(key.table))) return []
  return [
    `onDelete: ${quoted(key.onDelete)}`,
    ...(OPEN_ON_UPDATE.includes(key.onUpdate) ? [] : [`onUpdate: ${quoted(key.onUpdate)}`]),
  ]
}

const OPEN_ON_UPDATE = ['NO ACTION', 'RESTRICT', 'CASCADE']

// `unknown` has NULL, and cannot be marked as optional.
function typeText({ value }: ColumnType, isNullable: boolean, isOptional: boolean): string {
  if (value === 'unknown') return value
  const text = isNullable ? `${value} | null` : value
  return isOptional ? `CreationOptional<${text}>` : text
}

function docOf({ others }: Table, { name, comment = '', generated }: Column): string[] {
  return [
    ...commentLines(comment),
    ...(others.includes(`on update ${name}`) ? ['The database sets it whenever the row changes.'] : []),
    ...(generated ? commentLines(`Computed by the database: ${generated.expression}`) : []),
  ]
}

// Rows that Sequelize has written have both. Where the database has a default for them, it is left to it.
function hasTimestamps(members: readonly ColumnMember[]): boolean {
  return ['createdAt', 'updatedAt'].every((name) =>
    members.some(
      ({ property, column, type }) =>
        property === name && type === 'Date' && column.default === undefined && !column.nullable,
    ),
  )
}

// Those of JSON and UUID belong to their types.
function isCollated(kind: DatabaseKind): (column: Column) => boolean {
  return (column) => {
    const { literal, model } = columnType(kind, column)
    return column.collation !== undefined && literal === 'string' && model !== 'DataType.UUID'
  }
}

function inLine(name: string): string {
  return commentLines(name).join(' ')
}

const OTHERS =
  /^(?:check|exclusion|trigger|policy|rule|partitions?|child|row level security|system versioning|without rowid|strict|on conflict)\b/

function leftOut(kind: DatabaseKind, table: Table): string[] {
  const { others, columns, foreignKeys } = table
  const names = others.filter((other) => OTHERS.test(other)).map(inLine)
  const unquotable = columns.filter(({ name }) => !isWritable(kind, name))
  return [
    ...(names.length > 0 ? [`Only in the database: ${names.join(', ')}.`] : []),
    ...columns
      .filter(({ attributes }) => attributes?.isInvisible)
      .map(({ name }) => `Only in the database: INVISIBLE of the column ${inLine(name)}.`),
    ...unquotable.map(({ name }) => `Left out: the column ${inLine(name)}, whose name Sequelize cannot write.`),
    ...foreignKeys
      .filter((key) => key.columns.length > 1)
      .map(
        (key) =>
          `Left out: the foreign key (${key.columns.join(', ')}) to ${key.table.name}, as Sequelize has none of several columns.`,
      ),
    ...unwritableIndexes(table).map(
      (name) =>
        `Left out: the index ${inLine(name)}, as Sequelize has no option for its INCLUDE or NULLS FIRST, or it is not valid.`,
    ),
    ...foreignKeys
      .filter(({ deferrable }) => deferrable !== undefined)
      .map(({ columns: names }) => `Left out: DEFERRABLE of the foreign key (${names.map(inLine).join(', ')}).`),
    ...columns
      .filter(isCollated(kind))
      .map(({ name, collation = '' }) => `Left out: the collation ${inLine(collation)} of the column ${inLine(name)}.`),
  ]
}
