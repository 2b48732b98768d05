import type { DataType } from 'sequelize'
import { encodeDecimal } from '../../../schema/output/scalars.js'
import { columnShape } from '../../models/column-shape.js'
import { isNumeric } from '../../sql/values.js'
import type { StoredForm } from '../../values/stored-forms.js'

/** The form in which SQLite returns the values of a column with this type in the table: it makes numbers of decimals, with 15 to 17 digits. */
export function storedForm(type: DataType, columnType: string): StoredForm | undefined {
  return columnShape({ type }).kind === 'decimal' && !KEEPS_TEXT.test(columnType) ? asNumber : undefined
}

// Source: sqlite.org, Datatypes, "Determination Of Column Affinity".
const KEEPS_TEXT = /^$|CHAR|CLOB|TEXT|BLOB/i
const INTEGER = /^\s*[-+]?\d{1,30}\s*$/

function asNumber(value: unknown): unknown {
  if (typeof value !== 'string' || !isNumeric(value)) return value
  const integer = INTEGER.test(value) ? BigInt(value) : undefined
  if (integer !== undefined && BigInt.asIntN(64, integer) === integer) return String(integer)
  const number = Number(value)
  return Number.isFinite(number) ? encodeDecimal(number) : value
}
