import type { DatabaseKind, Index, IndexPart, Table } from '../../db/catalog/catalog.js'
import { objectText, quoted } from './literals.js'

/** Whether a column alone is unique: by a constraint, or by an index of all rows. */
export function isUniqueColumn(table: Table, name: string): boolean {
  const isOnly = (columns: readonly (string | undefined)[]) => columns.length === 1 && columns[0] === name
  return (
    table.uniques.some(({ columns }) => isOnly(columns)) ||
    table.indexes.some((index) => isPlainUnique(index) && isOnly(index.columns.map(({ column }) => column)))
  )
}

function isPlainUnique({ unique, where, columns, include }: Index): boolean {
  const isPlain = columns.every(({ column, length, descending }) => column !== undefined && !length && !descending)
  return unique && where === undefined && include.length === 0 && isPlain
}

/** The members of each of the option `indexes` of @Table, but for what `unique: true` of a column says. */
export function indexTexts(
  kind: DatabaseKind,
  table: Table,
  /** By the names of the columns. */
  properties: ReadonlyMap<string, string>,
): string[][] {
  const uniques = table.uniques.filter(({ columns }) => columns.length > 1)
  return [
    ...uniques.map(({ name, columns }) => [
      ...nameText(name),
      'unique: true',
      fieldsText(columns.map((column) => nameOf(column, properties))),
    ]),
    ...table.indexes
      .filter((index) => isWritten(kind, table, index))
      .map((index) => indexText(withoutEnumCasts(table, index), properties)),
  ]
}

/** The names of the indexes that Sequelize has no options for. */
export function unwritableIndexes({ indexes }: Table): string[] {
  return indexes.filter((index) => !isExpressible(index)).map(({ name }) => name)
}

function isExpressible({ columns, include, valid }: Index): boolean {
  return valid && include.length === 0 && columns.every(({ nullsFirst }) => nullsFirst === undefined)
}

function isWritten(kind: DatabaseKind, table: Table, index: Index): boolean {
  const { columns } = index
  if (!isExpressible(index)) return false
  if (isPlainUnique(index) && columns.length === 1) return false
  return (kind !== 'mysql' && kind !== 'mariadb') || !isOfForeignKey(table, index)
}

// MySQL and MariaDB make an index for each foreign key.
function isOfForeignKey({ foreignKeys }: Table, { unique, columns }: Index): boolean {
  return (
    !unique &&
    foreignKeys.some(
      (key) => key.columns.length === columns.length && key.columns.every((name, at) => columns[at]?.column === name),
    )
  )
}

function indexText({ name, unique, method, columns, where }: Index, properties: ReadonlyMap<string, string>): string[] {
  const kinds = ['fulltext', 'spatial']
  return [
    ...nameText(name),
    ...(unique ? ['unique: true'] : []),
    ...(kinds.includes(method) ? [`type: ${quoted(method.toUpperCase())}`] : []),
    ...(method === 'btree' || kinds.includes(method) ? [] : [`using: ${quoted(method)}`]),
    fieldsText(columns.map((part) => partText(part, properties, method))),
    ...(where === undefined ? [] : [`where: literal(${quoted(where)})`]),
  ]
}

// The models' enum type has another name than that of the table.
function withoutEnumCasts({ columns }: Table, index: Index): Index {
  const casts = columns.flatMap(({ enumValues, type }) => (enumValues && !type.endsWith('[]') ? `::${type}` : []))
  const plain = (sql: string) => casts.reduce((text, cast) => text.replaceAll(cast, ''), sql)
  const toPlainPart = (part: IndexPart): IndexPart =>
    part.expression === undefined ? part : { ...part, expression: plain(part.expression) }
  const where = index.where === undefined ? {} : { where: plain(index.where) }
  return { ...index, columns: index.columns.map(toPlainPart), ...where }
}

function nameText(name: string | undefined): string[] {
  return name === undefined ? [] : [`name: ${quoted(name)}`]
}

function fieldsText(fields: readonly string[]): string {
  return `fields: [${fields.join(', ')}]`
}

function nameOf(column: string, properties: ReadonlyMap<string, string>): string {
  return quoted(properties.get(column) ?? column)
}

function partText(part: IndexPart, properties: ReadonlyMap<string, string>, method: string): string {
  const { column, expression = '', descending, length, operatorClass, collation } = part
  if (column === undefined) return `literal(${quoted(descending ? `${expression} DESC` : expression)})`
  const options = [
    ...(descending ? [`order: 'DESC'`] : []),
    // MySQL and MariaDB have a length for every spatial index, and take none.
    ...(length === undefined || method === 'spatial' ? [] : [`length: ${length}`]),
    ...(operatorClass === undefined ? [] : [`operator: ${quoted(operatorClass)}`]),
    ...(collation === undefined ? [] : [`collate: ${quoted(collation)}`]),
  ]
  const name = nameOf(column, properties)
  return options.length === 0 ? name : objectText([`name: ${name}`, ...options])
}
