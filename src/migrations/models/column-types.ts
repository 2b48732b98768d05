import type { Column, DatabaseKind } from '../../db/catalog/catalog.js'
import { typeOfText } from '../../db/sequelize/type-texts.js'
import { quoted } from './literals.js'

/** The type of a column in a class. */
export interface ColumnType {
  /** `DataType.STRING(50)`, or the text of a type that Sequelize does not have: `'interval'`. */
  readonly model: string
  /** `string`, `'draft' | 'sent'` */
  readonly value: string
  /** How a default is written. */
  readonly literal: 'string' | 'number' | 'boolean' | 'json' | 'none'
}

/** The type of a class for the type that the engine names, so that Sequelize would create the same column. */
export function columnType(kind: DatabaseKind, column: Column): ColumnType {
  const { enumValues, type } = column
  if (enumValues && !type.endsWith('[]')) return enumType(enumValues)
  const parts = partsOf(type)
  const known = kind === 'postgres' ? ofPostgres(parts) : kind === 'sqlite' ? ofSqlite(parts) : ofMysql(parts, column)
  return known ?? { model: quoted(type), value: enumValues ? `(${unionOf(enumValues)})[]` : 'unknown', literal: 'none' }
}

function enumType(values: readonly string[]): ColumnType {
  return { model: `DataType.ENUM(${values.map(quoted).join(', ')})`, value: unionOf(values), literal: 'string' }
}

function unionOf(values: readonly string[]): string {
  return values.map(quoted).join(' | ')
}

/** The parts of `decimal(10,2) unsigned`. */
interface Parts {
  readonly text: string
  /** In lower case: `decimal`, `timestamp without time zone`. */
  readonly name: string
  readonly numbers: readonly number[]
  /** In lower case: `unsigned zerofill`. */
  readonly rest: string
}

function partsOf(text: string): Parts {
  const open = text.indexOf('(')
  const close = text.indexOf(')', open)
  if (open < 0 || close < 0) return namedParts(text, text, [], '')
  const numbers = text.slice(open + 1, close).split(',')
  const rest = text.slice(close + 1).trim()
  return namedParts(text, text.slice(0, open), numbers.map(Number), rest)
}

function namedParts(text: string, before: string, numbers: readonly number[], rest: string): Parts {
  const words = before.trim().toLowerCase().split(/\s/).filter(Boolean)
  const modifiers = words.filter((word) => MODIFIERS.has(word))
  const name = words.filter((word) => !MODIFIERS.has(word)).join(' ')
  return { text, name, numbers, rest: [...modifiers, rest.toLowerCase()].join(' ').trim() }
}

const MODIFIERS: ReadonlySet<string> = new Set(['unsigned', 'zerofill'])

const STRING: ColumnType = { model: 'DataType.TEXT', value: 'string', literal: 'string' }
const number = (model: string): ColumnType => ({ model, value: 'number', literal: 'number' })
const digits = (model: string): ColumnType => ({ model, value: 'string', literal: 'string' })
const string = (model: string): ColumnType => ({ model, value: 'string', literal: 'string' })
const boolean: ColumnType = { model: 'DataType.BOOLEAN', value: 'boolean', literal: 'boolean' }
const date = (model = 'DataType.DATE'): ColumnType => ({ model, value: 'Date', literal: 'none' })
const bytes = (model = 'DataType.BLOB'): ColumnType => ({ model, value: 'Buffer', literal: 'none' })
const json = (model: string): ColumnType => ({ model, value: 'unknown', literal: 'json' })
const other = (model: string, value: string): ColumnType => ({ model, value, literal: 'none' })

function call(name: string, values: readonly number[]): string {
  return values.length === 0 ? `DataType.${name}` : `DataType.${name}(${values.join(', ')})`
}

function stringOf(length: number | undefined): ColumnType {
  return string(length === 255 ? 'DataType.STRING' : call('STRING', length === undefined ? [] : [length]))
}

/** A type of Sequelize that the engine spells otherwise, such as VARCHAR without a length: the text keeps it. */
function named(parts: Parts, type: (model: string) => ColumnType): ColumnType {
  return type(quoted(parts.text))
}

function ofPostgres(parts: Parts): ColumnType | undefined {
  const { name, numbers, rest, text } = parts
  if (text.endsWith('[]')) return arrayOf(partsOf(text.slice(0, -2)))
  const full = [name, rest].filter(Boolean).join(' ')
  const [size] = numbers
  switch (full) {
    case 'character varying':
      return size === undefined ? named(parts, string) : stringOf(size)
    case 'character':
      return string(call('CHAR', size === undefined ? [1] : [size]))
    case 'numeric':
      return digits(call('DECIMAL', numbers))
    case 'timestamp with time zone':
      return size === undefined ? date() : named(parts, date)
    case 'timestamp without time zone':
      return size === undefined ? date("'TIMESTAMP'") : named(parts, date)
    case 'time without time zone':
      return size === undefined ? string('DataType.TIME') : named(parts, string)
    default:
      return numbers.length === 0 ? POSTGRES.get(full) : postgisOf(text)
  }
}

const RANGES: Readonly<Record<string, string>> = {
  int4range: 'INTEGER',
  int8range: 'BIGINT',
  numrange: 'DECIMAL',
  tstzrange: 'DATE',
  daterange: 'DATEONLY',
}

const POSTGRES: ReadonlyMap<string, ColumnType> = new Map([
  ['smallint', number('DataType.SMALLINT')],
  ['integer', number('DataType.INTEGER')],
  ['bigint', digits('DataType.BIGINT')],
  ['real', number('DataType.REAL')],
  ['double precision', number('DataType.DOUBLE')],
  ['text', STRING],
  ['citext', string('DataType.CITEXT')],
  ['boolean', boolean],
  ['date', string('DataType.DATEONLY')],
  ['uuid', string('DataType.UUID')],
  ['json', json('DataType.JSON')],
  ['jsonb', json('DataType.JSONB')],
  ['bytea', bytes()],
  ['inet', string('DataType.INET')],
  ['cidr', string('DataType.CIDR')],
  ['macaddr', string('DataType.MACADDR')],
  ['hstore', other('DataType.HSTORE', 'Record<string, string | null>')],
  ['tsvector', other('DataType.TSVECTOR', 'string')],
  ['geometry', other('DataType.GEOMETRY', 'object')],
  ['geography', other('DataType.GEOGRAPHY', 'object')],
  ...['money', 'xml', 'name', 'bit', 'bit varying', '"char"', 'pg_lsn'].map((name): [string, ColumnType] => [
    name,
    other(quoted(name), 'string'),
  ]),
  ...Object.entries(RANGES).map(([name, type]): [string, ColumnType] => [
    name,
    other(`DataType.RANGE(DataType.${type})`, 'unknown'),
  ]),
])

/** `geometry(Point,4326)` -> `DataType.GEOMETRY('POINT', 4326)` */
function postgisOf(text: string): ColumnType | undefined {
  const [, name = '', shape = '', srid] = /^(geometry|geography)\((\w{1,40})(?:,(\d{1,6}))?\)$/i.exec(text) ?? []
  if (name === '') return undefined
  const values = [quoted(shape.toUpperCase()), ...(srid === undefined ? [] : [srid])]
  return other(`DataType.${name.toUpperCase()}(${values.join(', ')})`, 'object')
}

function arrayOf(items: Parts): ColumnType | undefined {
  const type = ofPostgres(items)
  // Sequelize writes other bytes than those of the value into an array of BLOB, and casts by the name of its own type for others.
  if (!type?.model.startsWith('DataType.') || type.value === 'Buffer' || type.literal === 'json') return undefined
  return other(`DataType.ARRAY(${type.model})`, /^\w+$/.test(type.value) ? `${type.value}[]` : `(${type.value})[]`)
}

// As MySQL and MariaDB show them where the table states none.
const WIDTHS: Readonly<Record<string, readonly [signed: number, unsigned: number]>> = {
  tinyint: [4, 3],
  smallint: [6, 5],
  mediumint: [9, 8],
  int: [11, 10],
  bigint: [20, 20],
}

function ofMysql(parts: Parts, { collation = '' }: Column): ColumnType | undefined {
  const { name, numbers, rest } = parts
  const [size] = numbers
  if (name === 'tinyint' && size === 1 && rest === '') return boolean
  if (name in WIDTHS) return integerOfMysql(parts)
  switch (name) {
    case 'decimal':
      return digits(withSign(call('DECIMAL', numbers), rest))
    case 'float':
      return number(withSign(call('FLOAT', numbers.length === 0 ? [24] : numbers), rest)) // without a length, DataType.FLOAT is a DOUBLE
    case 'double':
      return number(withSign(call('DOUBLE', numbers), rest))
    case 'varchar':
      return stringOf(size)
    case 'char':
      return size === 36 && collation.endsWith('_bin') ? string('DataType.UUID') : string(call('CHAR', numbers))
    case 'datetime':
      return size === undefined ? named(parts, date) : date(call('DATE', numbers))
    case 'timestamp':
      return named(parts, date)
    case 'time':
      return size === undefined ? string('DataType.TIME') : named(parts, string)
    case 'binary':
    case 'varbinary':
      return named(parts, bytes)
    default:
      return MYSQL.get(name)
  }
}

function integerOfMysql({ name, numbers: [size], rest }: Parts): ColumnType {
  const [signed, unsigned] = WIDTHS[name] ?? [0, 0]
  const usual = rest.includes('unsigned') ? unsigned : signed
  const key = name === 'int' ? 'INTEGER' : name.toUpperCase()
  const width = size === undefined || size === usual ? '' : `({ length: ${size} })`
  const model = withSign(`DataType.${key}${width}`, rest)
  return name === 'bigint' ? digits(model) : number(model)
}

function withSign(model: string, rest: string): string {
  return `${model}${rest.includes('unsigned') ? '.UNSIGNED' : ''}${rest.includes('zerofill') ? '.ZEROFILL' : ''}`
}

const SHAPES = ['point', 'linestring', 'polygon'] // the others have no name in Sequelize

const MYSQL: ReadonlyMap<string, ColumnType> = new Map([
  ['text', STRING],
  ...['tiny', 'medium', 'long'].flatMap((size): [string, ColumnType][] => [
    [`${size}text`, string(`DataType.TEXT(${quoted(size)})`)],
    [`${size}blob`, bytes(`DataType.BLOB(${quoted(size)})`)],
  ]),
  ['blob', bytes()],
  ['date', string('DataType.DATEONLY')],
  ['json', json('DataType.JSON')],
  ['uuid', string("'uuid'")],
  ['year', other("'YEAR'", 'number')],
  ['geometry', other('DataType.GEOMETRY', 'object')],
  ...SHAPES.map((name): [string, ColumnType] => [
    name,
    other(`DataType.GEOMETRY(${quoted(name.toUpperCase())})`, 'object'),
  ]),
])

function ofSqlite(parts: Parts): ColumnType {
  const { name, numbers, text } = parts
  const exact = ofSequelizeOnSqlite(parts)
  if (exact) return exact
  const known = typeOfText(text) === undefined ? undefined : KNOWN_ON_SQLITE.get(name)
  return known ? { ...known, model: quoted(text) } : ofAffinity(text, numbers)
}

/** The types that Sequelize spells like this. */
function ofSequelizeOnSqlite({ name, numbers, rest }: Parts): ColumnType | undefined {
  const [size] = numbers
  if (rest !== '') return undefined
  if (name === 'varchar' && size !== undefined) return stringOf(size)
  if (name === 'decimal') return digits(call('DECIMAL', numbers))
  if (name === 'tinyint' && size === 1) return boolean
  return numbers.length === 0 ? SQLITE.get(name) : undefined
}

/** The types whose values this package knows by their texts. */
const KNOWN_ON_SQLITE: ReadonlyMap<string, ColumnType> = new Map([
  ...['varchar', 'nvarchar', 'char', 'nchar', 'character', 'character varying', 'ntext', 'clob'].map(
    (name): [string, ColumnType] => [name, STRING],
  ),
  ...['int', 'integer', 'smallint', 'mediumint', 'double', 'double precision'].map((name): [string, ColumnType] => [
    name,
    number(''),
  ]),
  ...['timestamp', 'timestamptz', 'datetime'].map((name): [string, ColumnType] => [name, date()]),
  ...['numeric', 'decimal', 'bigint'].map((name): [string, ColumnType] => [name, digits('')]),
  ['time', STRING],
  ['boolean', boolean],
  ['bool', boolean],
  ['binary', bytes()],
  ['varbinary', bytes()],
])

/** SQLite itself decides by what a text contains. Of the others a row may have any value. */
function ofAffinity(text: string, numbers: readonly number[]): ColumnType {
  const model = quoted(text === '' ? 'BLOB' : text)
  if (/int/i.test(text)) return number(model)
  if (/char|clob|text/i.test(text)) return string(model)
  return /real|floa|doub/i.test(text) && numbers.length < 3 ? number(model) : other(model, 'unknown')
}

const SQLITE: ReadonlyMap<string, ColumnType> = new Map([
  ['integer', number('DataType.INTEGER')],
  ['bigint', digits('DataType.BIGINT')],
  ['text', STRING],
  ['real', number('DataType.REAL')],
  ['float', number('DataType.FLOAT')],
  ['datetime', date()],
  ['date', string('DataType.DATEONLY')],
  ['time', string('DataType.TIME')],
  ['json', json('DataType.JSON')],
  ['jsonb', json('DataType.JSONB')],
  ['uuid', string('DataType.UUID')],
  ['blob', bytes()],
])
