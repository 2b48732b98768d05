import type { Model, ModelStatic } from 'sequelize'
import { dataTypeInternals } from '../../sequelize/internals.js'
import { isStoredUuid } from '../../sql/values.js'

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
