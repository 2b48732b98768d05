import type { DataType, Model, ModelStatic } from 'sequelize'
import { bigintBounds, columnShape } from '../models/column-shape.js'
import { dataTypeInternals } from '../sequelize/internals.js'
import { isStoredUuid } from '../sql/values.js'

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
      const isPlain = (value: unknown) => Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most
      return { isConverted: false, isPlain }
    }
    case 'STRING':
    case 'TEXT': {
      const shape = columnShape({ type })
      if (isBinary || shape.kind !== 'string') return undefined
      const { maxLength = Infinity } = shape // in characters, of which a string has at most its length
      // PostgreSQL has no NUL in texts, and Sequelize changes it in literals.
      const isPlain = (value: unknown) =>
        typeof value === 'string' && value.length <= maxLength && !value.includes('\0')
      return { isConverted: false, isPlain }
    }
    case 'UUID':
      return { isConverted: false, isPlain: (value) => typeof value === 'string' && isStoredUuid(value) }
    case 'BOOLEAN':
      return { isConverted: false, isPlain: (value) => typeof value === 'boolean' }
    case 'ENUM':
      return { isConverted: false, isPlain: (value) => typeof value === 'string' && values.includes(value) }
    case 'DATE':
      return { isConverted: true, isPlain: (value) => value instanceof Date && isWithinDates(value.getTime()) }
    default:
      return undefined
  }
}

function isWithinDates(time: number): boolean {
  return time >= Date.UTC(1, 0) && time <= Date.UTC(9999, 0)
}

function integerBounds(type: DataType): readonly [number, number] {
  const shape = columnShape({ type })
  if (shape.kind === 'integer') return [shape.minimum ?? -Infinity, shape.maximum ?? Infinity]
  const [least, most] = bigintBounds(type)
  return [Number(least), Number(most)]
}

/** The values of a column's type that have the same meaning as a parameter and as a literal. */
export interface PlainValue {
  isPlain(value: unknown): boolean
  /** The placeholder `$1` with the type that PostgreSQL gives to the literal. */
  cast(placeholder: string): string
}

/**
 * PostgreSQL gives a parameter the type of the column that it is compared with, and reports an error for one beyond the values of that type; it
 * gives a literal the type of its value. So a parameter is cast to the type of the literal; other values are left to Sequelize.
 */
export function plainValueOf(model: ModelStatic<Model>, type: unknown): PlainValue | undefined {
  const { key = '', _binary: isBinary } = dataTypeInternals(type)
  const plain = isBinary ? undefined : TYPES[key]
  return plain && model.sequelize?.getDialect() !== 'postgres' ? { ...plain, cast: uncast } : plain
}

const uncast = (placeholder: string) => placeholder

const INT32 = 2 ** 31

const isInteger = (value: unknown) =>
  typeof value === 'number' && Number.isInteger(value) && value < INT32 && value >= -INT32

// As literals, Sequelize writes NUL as the two characters \0.
const isText = (value: unknown) => typeof value === 'string' && !value.includes('\0')

const integer: PlainValue = { isPlain: isInteger, cast: (placeholder) => `${placeholder}::integer` }
const text: PlainValue = { isPlain: isText, cast: uncast }

const TYPES: Readonly<Record<string, PlainValue>> = {
  INTEGER: integer,
  BIGINT: integer,
  STRING: text,
  TEXT: text,
  UUID: { isPlain: (value) => typeof value === 'string' && isStoredUuid(value), cast: uncast },
  BOOLEAN: {
    isPlain: (value) => typeof value === 'boolean',
    cast: (placeholder) => `${placeholder}::boolean`,
  },
}
