import type { DataType } from 'sequelize'
import { bigintBounds, columnShape } from '../../models/column-shape.js'
import { dataTypeInternals } from '../../sequelize/internals.js'
import { isStoredUuid } from '../../sql/values.js'

/** Which values a column stores as they are, and how they are bound. */
export interface RowValue {
  /** Whether the value is within the bounds of the column, and means the same to Sequelize and to every database. */
  isPlain(value: unknown): boolean
  /** Whether Sequelize converts it before it is bound. */
  readonly isConverted: boolean
}

/** Undefined for types whose values are left to Sequelize. */
export function rowValueOf(type: DataType): RowValue | undefined {
  const { key, values = [], _binary: isBinary } = dataTypeInternals(type)
  switch (key) {
    case 'SMALLINT':
    case 'INTEGER':
    case 'BIGINT': {
      const [least, most] = integerBounds(type)
      return { isConverted: false, isPlain: (value) => Number.isSafeInteger(value) && isWithin(value, least, most) }
    }
    case 'STRING':
    case 'TEXT': {
      const shape = columnShape({ type })
      if (isBinary || shape.kind !== 'string') return undefined
      const { maxLength = Infinity } = shape // in characters, of which a string has at most its length
      return { isConverted: false, isPlain: (value) => isText(value) && value.length <= maxLength }
    }
    case 'UUID':
      return { isConverted: false, isPlain: (value) => typeof value === 'string' && isStoredUuid(value) }
    case 'BOOLEAN':
      return { isConverted: false, isPlain: (value) => typeof value === 'boolean' }
    case 'ENUM':
      return { isConverted: false, isPlain: (value) => typeof value === 'string' && values.includes(value) }
    case 'DATE':
      return { isConverted: true, isPlain: (value) => value instanceof Date && isWithin(value.getTime(), ...DATES) }
    default:
      return undefined
  }
}

const DATES = [Date.UTC(1, 0), Date.UTC(9999, 0)] as const

function integerBounds(type: DataType): readonly [number, number] {
  const shape = columnShape({ type })
  if (shape.kind === 'integer') return [shape.minimum ?? -Infinity, shape.maximum ?? Infinity]
  const [least, most] = bigintBounds(type)
  return [Number(least), Number(most)]
}

function isWithin(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most
}

// PostgreSQL has no NUL in texts, and Sequelize changes it in literals.
function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}
