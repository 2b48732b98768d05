import { type DataType, type Model, type ModelStatic, type Sequelize, Utils } from 'sequelize'
import { encodeDecimal, toScale } from '../../../schema/output/scalars.js'
import { isDecimalText } from '../../../schema/shape/text-formats.js'
import { columnShape } from '../../models/column-shape.js'
import { dataTypeInternals, parserStoreOf, sequelizeInternals } from '../../sequelize/internals.js'
import { type StoredForm, numberForm } from '../../values/stored-forms.js'
import { hasTypeText } from '../../sequelize/type-texts.js'
import type { DriverField } from '../../sequelize/connection-manager.js'

/**
 * Gives columns of the type FLOAT without a length eight bytes, as on the other databases. It is the type of the tables that `sync` creates.
 */
export function keepDoubles(sequelize: Sequelize): void {
  for (const model of Object.values(sequelize.models)) widenFloats(model)
  sequelize.addHook('afterDefine', (model) => widenFloats(model as ModelStatic<Model>)) // the type of its argument lacks statics
}

const DOUBLE_BITS = 53

function widenFloats(model: ModelStatic<Model>): void {
  for (const attribute of Object.values(model.getAttributes())) {
    const { key, _length, options } = dataTypeInternals(attribute.type)
    if (key === 'FLOAT' && _length === undefined && !hasTypeText(attribute.type))
      attribute.type = Reflect.construct(attribute.type.constructor, [{ ...options, length: DOUBLE_BITS }])
  }
}

/** The form in which the server returns the values of a column with this type in the table. */
export function storedForm(type: DataType, columnType: string): StoredForm | undefined {
  const { kind } = columnShape({ type })
  const [, name = '', decimals] = NUMBER.exec(columnType) ?? []
  if (kind === 'number' && /float/i.test(name)) return numberForm((number) => float(number, decimals))
  if (kind === 'number' && decimals !== undefined) return numberForm((number) => rounded(number, Number(decimals)))
  if (kind === 'decimal' && /decimal/i.test(name)) return decimalForm(Number(decimals))
  return kind === 'date-time' && WHOLE_SECONDS.test(columnType) ? wholeSecond : undefined
}

const NUMBER = /^(float|double|decimal)(?:\(\d+,(\d+)\))?/i

// The server writes six digits of four bytes.
function float(written: number, decimals: string | undefined): number {
  if (decimals === undefined) return Number(Math.fround(written).toPrecision(6))
  return Number(Math.fround(rounded(written, Number(decimals))).toFixed(Number(decimals)))
}

// As the server does, so that both round a value between two numbers to the same one.
function rounded(written: number, decimals: number): number {
  const whole = Math.floor(written)
  const scale = 10 ** decimals
  return whole + roundedToEven((written - whole) * scale) / scale
}

function roundedToEven(number: number): number {
  const nearest = Math.round(number)
  return nearest - number === 0.5 && nearest % 2 !== 0 ? nearest - 1 : nearest
}

function decimalForm(scale: number): StoredForm {
  return (value) => {
    const isDecimal = typeof value === 'string' ? isDecimalText(value) : Number.isFinite(value)
    return isDecimal ? toScale(encodeDecimal(value), scale) : value
  }
}

function wholeSecond(value: unknown): unknown {
  return value instanceof Date ? new Date(Math.floor(value.getTime() / 1000) * 1000) : value
}

/** The functions that {@link readEarlyYears} has made, with the dialect of their connections. */
const casts = new WeakMap<object, string>()

/**
 * Makes the driver's connections read the years 1 to 99 of a DATETIME. Sequelize writes a space between day and time, with which JavaScript
 * reads them as 1950 to 2049. A TIMESTAMP, which the driver of MariaDB would read in the time zone of the process, is read alike.
 */
export function readEarlyYears(sequelize: Sequelize): void {
  const { connectionManager: manager, options } = sequelizeInternals(sequelize)
  const { timezone, dialect } = options
  const isOffset = OFFSET.test(timezone) // Sequelize reads the times of a named zone by another function
  const typeCast = (field: DriverField, next: () => unknown): unknown => {
    const isMoment = MOMENTS.has(field.type)
    const known = isMoment ? { type: 'DATETIME', string: () => field.string() } : field // Sequelize knows no TIMESTAMP
    if (!isMoment || !isOffset) return manager.constructor._typecast?.call(manager, known, next)
    const text = field.string()
    return text === null ? null : new Date(`${text.replace(' ', 'T')}${timezone}`)
  }
  casts.set(typeCast, dialect)
  sequelize.addHook('beforeConnect', (config) => {
    config.dialectOptions = Object.assign({ typeCast }, config.dialectOptions)
  })
}

/** Whether the `typeCast` of a connection leaves the values of this type to the driver. */
export function readsWithoutCast(typeCast: object, type: string): boolean {
  const dialect = casts.get(typeCast)
  return dialect !== undefined && !MOMENTS.has(type) && parserStoreOf(dialect).get(type) === undefined
}

const MOMENTS: ReadonlySet<string> = new Set(['DATETIME', 'TIMESTAMP'])

const OFFSET = /^[+-]\d\d:\d\d$/

/** The attributes whose type {@link keepMilliseconds} has set. */
const withMilliseconds = new WeakMap<ModelStatic<Model>, Set<string>>()

/**
 * Gives columns of the type DATE without a precision three digits after the second, as on the other databases. It is the type of the tables
 * that `sync` creates.
 */
export function keepMilliseconds(sequelize: Sequelize): void {
  for (const model of Object.values(sequelize.models)) addMilliseconds(model)
  sequelize.addHook('afterDefine', (model) => addMilliseconds(model as ModelStatic<Model>)) // the type of its argument lacks statics
}

function addMilliseconds(model: ModelStatic<Model>): void {
  const names = new Set(withMilliseconds.get(model))
  withMilliseconds.set(model, names)
  for (const [name, attribute] of Object.entries(model.getAttributes())) {
    const { key, _length } = dataTypeInternals(attribute.type)
    // MySQL requires the precision of the column in a default such as CURRENT_TIMESTAMP.
    if (
      key !== 'DATE' ||
      _length ||
      hasTypeText(attribute.type) ||
      attribute.defaultValue instanceof Utils.SequelizeMethod
    )
      continue
    names.add(name)
    attribute.type = Reflect.construct(attribute.type.constructor, [3])
  }
}

/**
 * Undoes {@link keepMilliseconds} for the columns of an existing table that hold whole seconds. A condition with milliseconds would not find
 * the value that it was written with, and MySQL would round it up.
 */
export function keepWholeSeconds(model: ModelStatic<Model>, typeOf: (column: string) => string | undefined): void {
  for (const [name, attribute] of Object.entries(model.getAttributes())) {
    const { type, field = name } = attribute
    if (!withMilliseconds.get(model)?.has(name)) continue
    if (WHOLE_SECONDS.test(typeOf(field) ?? '')) attribute.type = Reflect.construct(type.constructor, [])
  }
}

export const WHOLE_SECONDS = /^(?:datetime|timestamp)(?:\(0\))?$/i
