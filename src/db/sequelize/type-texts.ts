import { type DataType, DataTypes, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { modelInternals, sequelizeInternals } from './internals.js'

/*
 * A column may be declared with the text of its type: @Column('TIMESTAMP'), @Column('NVARCHAR(160)'). Sequelize leaves its values to the driver,
 * which writes and reads a Date in the time zone of the process. Here such a column has the values of the nearest type of Sequelize, and its
 * table the text.
 */

type TypeOf = (size?: number, scale?: number) => DataType

const date: TypeOf = (digits) => DataTypes.DATE(digits)
const text: TypeOf = () => DataTypes.TEXT
const string: TypeOf = (length) => (length === undefined ? DataTypes.TEXT : DataTypes.STRING(length))
const char: TypeOf = (length) => DataTypes.CHAR(length)
const decimal: TypeOf = (digits, scale) => (digits === undefined ? DataTypes.DECIMAL : DataTypes.DECIMAL(digits, scale))
const bytes: TypeOf = () => DataTypes.BLOB
const double: TypeOf = () => DataTypes.DOUBLE
const integer: TypeOf = () => DataTypes.INTEGER
const bigint: TypeOf = () => DataTypes.BIGINT
const boolean: TypeOf = () => DataTypes.BOOLEAN

const TYPES: ReadonlyMap<string, TypeOf> = new Map([
  ['timestamp', date],
  ['timestamptz', date],
  ['datetime', date],
  ['date', () => DataTypes.DATEONLY],
  ['time', () => DataTypes.TIME],
  ['varchar', string],
  ['nvarchar', string],
  ['character varying', string],
  ['char', char],
  ['nchar', char],
  ['character', char],
  ['text', text],
  ['ntext', text],
  ['clob', text],
  ['numeric', decimal],
  ['decimal', decimal],
  ['double', double],
  ['double precision', double],
  ['real', () => DataTypes.REAL],
  ['int', integer],
  ['integer', integer],
  ['smallint', () => DataTypes.SMALLINT],
  ['mediumint', () => DataTypes.MEDIUMINT],
  ['bigint', bigint],
  ['bool', boolean],
  ['boolean', boolean],
  ['varbinary', bytes],
  ['binary', bytes],
  ['uuid', () => DataTypes.UUID],
])

const TEXT = /^\s{0,9}([a-z]{1,20}(?: varying| precision)?)\s{0,9}(?:\((\d{1,9})(?:\s{0,9},\s{0,9}(\d{1,9}))?\))?/i

/** The nearest type of Sequelize for the text of a type; undefined for one that is no text, or whose values are left to the driver. */
export function typeOfText(type: unknown): DataType | undefined {
  if (typeof type !== 'string' || type.includes('[') || /\bunsigned\b/i.test(type)) return undefined
  const [, name = '', size, scale] = TEXT.exec(type) ?? []
  if (name.toLowerCase() === 'time' && /\bwith time zone\b/i.test(type)) return undefined // its values are no times of a day
  return TYPES.get(name.toLowerCase())?.(toNumber(size), toNumber(scale))
}

function toNumber(digits: string | undefined): number | undefined {
  return digits === undefined ? undefined : Number(digits)
}

/** The types that {@link knowTypeTexts} has made. */
const withText = new WeakSet<object>()

/** Whether a column was declared with a text, which its table keeps. */
export function hasTypeText(type: unknown): boolean {
  return typeof type === 'object' && type !== null && withText.has(type)
}

/** Makes an instance write and read the values of columns whose type is a text. */
export function knowTypeTexts(sequelize: Sequelize): void {
  const internals = sequelizeInternals(sequelize)
  const normalize = internals.normalizeDataType.bind(sequelize)
  internals.normalizeDataType = (type) => {
    if (hasTypeText(type)) return type
    const nearest = typeOfText(type)
    if (nearest === undefined) return normalize(type)
    const known = normalize(nearest) as object // one of the dialect's types
    const named: object = Object.create(known, { toSql: { value: () => type } })
    withText.add(named)
    return named
  }
}

/** The same for models that were initialized before. */
export function renewTypeTexts(models: readonly ModelStatic<Model>[]): void {
  for (const model of models) {
    const internals = modelInternals(model)
    if (Object.values(internals.rawAttributes).some(({ type }) => typeOfText(type))) internals.refreshAttributes()
  }
}
