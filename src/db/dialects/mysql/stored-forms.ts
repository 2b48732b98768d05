import type { DataType, Model, ModelStatic, Sequelize } from 'sequelize'
import { encodeDecimal, toScale } from '../../../schema/output/scalars.js'
import { isDecimalText } from '../../../schema/shape/text-formats.js'
import { columnShape } from '../../models/column-shape.js'
import { dataTypeInternals } from '../../sequelize/internals.js'
import { numberForm, type StoredForm } from '../../values/stored-forms.js'
import { WHOLE_SECONDS } from './dates.js'

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
    if (key === 'FLOAT' && _length === undefined)
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
