import type { ModelAttributeColumnOptions } from 'sequelize'
import type { NumberShape, Shape, StringShape } from '../../schema/shape/shape.js'
import { ruledShape } from './column-rules.js'
import { CIDR, INET, MACADDR, geometryShape, rangeShape } from './server-type-shapes.js'
import { matches } from '../../schema/patterns/matches.js'
import { type DataTypeInternals, dataTypeInternals } from '../sequelize/internals.js'
import { typeOfText } from '../sequelize/type-texts.js'

/** The shape of a column's values, from its type and its `validate`. */
export function columnShape({ type, validate }: Pick<ModelAttributeColumnOptions, 'type' | 'validate'>): Shape {
  return ruledShape(typeShape(type), validate)
}

/** Whether a column is computed by the program, and not in the table. */
export function isVirtual(type: unknown): boolean {
  return dataTypeInternals(type).key === 'VIRTUAL'
}

/** Whether the type is JSON or JSONB. */
export function isJson(type: unknown): boolean {
  return /^JSONB?$/.test(dataTypeInternals(type).key ?? '')
}

/** The least and the greatest number that a BIGINT can store: SQLite and PostgreSQL have 64 bits with a sign, also if it is UNSIGNED. */
export function bigintBounds(given: unknown): readonly [min: bigint, max: bigint] {
  const type = dataTypeInternals(given)
  return [isUnsigned(type) ? 0n : -(2n ** 63n), type._unsigned ? 2n ** 64n - 1n : 2n ** 63n - 1n]
}

/** The largest number of four bytes, as PostgreSQL writes it. */
export const MAX_REAL = 3.4028235e38

function isUnsigned({ _unsigned, options }: DataTypeInternals): boolean {
  return _unsigned ?? options?.unsigned ?? false
}

function typeShape(given: unknown): Shape {
  const type = dataTypeInternals(typeOfText(given) ?? given)
  return SHAPES.get(type.key)?.(type) ?? { kind: 'any' }
}

// The only format that all databases accept and return unchanged, apart from fractions of a second.
const TIME: StringShape = {
  kind: 'string',
  pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]$',
  asStored: (text) => text.replace(/\.\d+$/, ''),
}

// Not / +$/: it takes quadratic time for a long run of spaces.
function withoutSpaces(text: string): string {
  let end = text.length
  while (text[end - 1] === ' ') end--
  return text.slice(0, end)
}

// Lexemes with their positions, which start at 1: 'a':1A,2 'cat':3. PostgreSQL accepts lexemes of up to 2,046 bytes; a character has up to 4.
const POSITION = '0*[1-9]\\d{0,4}[A-D]?'
const LEXEME = `(?:'(?:[^'\\\\]|''|\\\\.){1,511}'|(?:[^\\s'\\\\:]|\\\\.){1,511})(?::${POSITION}(?:,${POSITION})*)?`
const LEXEMES = new RegExp(`^\\s*(?:${LEXEME}(?:\\s+${LEXEME})*\\s*)?$`, 'su')

const TSVECTOR: StringShape = {
  kind: 'string',
  customValidation: {
    base: { kind: 'string' },
    checks: [
      {
        accepts: (json) => typeof json !== 'string' || matches(LEXEMES, json),
        message: "must be lexemes with their positions, such as 'fat':1A 'cat':2",
      },
    ],
  },
}

const HSTORE: Shape = {
  kind: 'any',
  object: true,
  openApiSchema: { type: 'object', additionalProperties: { type: ['string', 'null'] } },
  customValidation: {
    base: { kind: 'any', object: true },
    checks: [
      {
        accepts: (json) =>
          typeof json !== 'object' ||
          Object.values(json ?? {}).every((value) => value === null || typeof value === 'string'),
        message: 'must be an object with string values',
      },
    ],
  },
}

const number = (type: DataTypeInternals): Shape => ({ kind: 'number', ...(isUnsigned(type) ? { minimum: 0 } : {}) })
const text = (): Shape => ({ kind: 'string' })
const geometry = ({ type }: DataTypeInternals) => geometryShape(typeof type === 'string' ? type : undefined)

type ShapeOf = (type: DataTypeInternals) => Shape

/** The shapes by the keys of Sequelize's types. */
const SHAPES: ReadonlyMap<string | undefined, ShapeOf> = new Map<string | undefined, ShapeOf>([
  ['STRING', (type) => bounded(type, {})],
  ['CHAR', (type) => bounded(type, { asStored: withoutSpaces })],
  ['TEXT', text],
  ['CITEXT', text],
  ['TSVECTOR', () => TSVECTOR],
  ['HSTORE', () => HSTORE],
  ['GEOMETRY', geometry],
  ['GEOGRAPHY', geometry],
  ['INET', () => INET],
  ['CIDR', () => CIDR],
  ['MACADDR', () => MACADDR],
  ['UUID', () => ({ kind: 'string', format: 'uuid', asStored: (written) => written.toLowerCase() })],
  ['TIME', () => TIME],
  ['ENUM', ({ values = [] }) => ({ kind: 'enum', values })],
  ['TINYINT', (type) => integer(8, type)],
  ['SMALLINT', (type) => integer(16, type)],
  ['MEDIUMINT', (type) => integer(24, type)],
  ['INTEGER', (type) => integer(32, type)],
  ['BIGINT', (type) => ({ kind: 'bigint', format: isUnsigned(type) ? 'uint64' : 'int64' })],
  ['DECIMAL', decimal],
  ['REAL', (type) => ({ kind: 'number', minimum: isUnsigned(type) ? 0 : -MAX_REAL, maximum: MAX_REAL })],
  ['FLOAT', number],
  ['DOUBLE PRECISION', number],
  ['NUMBER', number],
  ['BOOLEAN', () => ({ kind: 'boolean' })],
  ['DATE', () => ({ kind: 'date-time' })],
  ['DATEONLY', () => ({ kind: 'date' })],
  ['BLOB', () => ({ kind: 'bytes' })],
  ['ARRAY', ({ type }) => ({ kind: 'array', items: typeShape(type) })],
  ['RANGE', ({ options }) => rangeShape(typeShape(options?.subtype))],
  ['VIRTUAL', ({ returnType }) => typeShape(returnType)],
])

/** @param ofText what a column of text has, and one of bytes has not. */
function bounded({ _length = 255, _binary }: DataTypeInternals, ofText: Pick<StringShape, 'asStored'>): StringShape {
  return { kind: 'string', maxLength: _length, ...(_binary ? { binary: true } : ofText) }
}

// Also for SQLite, which has no bounds: a value that other databases reject is rejected with every database.
function integer(bits: number, type: DataTypeInternals): NumberShape {
  return isUnsigned(type)
    ? { kind: 'integer', minimum: 0, maximum: 2 ** bits - 1 }
    : { kind: 'integer', minimum: -(2 ** (bits - 1)), maximum: 2 ** (bits - 1) - 1 }
}

// Without a precision, the number of digits differs between databases.
function decimal({ _precision, _scale = 0 }: DataTypeInternals): Shape {
  return _precision === undefined
    ? { kind: 'decimal' }
    : { kind: 'decimal', digits: { whole: _precision - _scale, fraction: _scale } }
}
