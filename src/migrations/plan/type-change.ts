import { isMysql } from '../../db/is-mysql.js'
import type { Column, DatabaseKind } from '../../db/catalog/catalog.js'

/**
 * What a change of the type means: `at once` only changes the catalog, `rewrites` keeps each value in a new form, and for `casts` there are values that do not
 * fit, or that are changed.
 */
export type TypeChange = 'at once' | 'rewrites' | 'casts'

/** A type in parts: `numeric(10,2)` is numeric with 10 and 2. */
export interface ParsedType {
  /** In lower case, without the numbers: `character varying`, `timestamp with time zone`. */
  readonly base: string
  readonly sizes: readonly number[]
  readonly isArray: boolean
}

export function parseType(type: string): ParsedType {
  const open = type.indexOf('(')
  const close = type.indexOf(')', open)
  const hasSizes = open >= 0 && close > open
  const sizes = hasSizes
    ? type
        .slice(open + 1, close)
        .split(',')
        .map(Number)
    : []
  const bare = (hasSizes ? type.slice(0, open) + type.slice(close + 1) : type).toLowerCase().trim()
  const isArray = bare.endsWith('[]')
  const base = isArray ? bare.slice(0, -2).trim() : bare
  return { base: NAMES[base] ?? base, sizes, isArray }
}

/** Other spellings. */
const NAMES: Readonly<Record<string, string>> = {
  varchar: 'character varying',
  char: 'character',
  int: 'integer',
  'int unsigned': 'integer unsigned',
  decimal: 'numeric',
  'double precision': 'double',
  real: 'float',
}

const NUMBERS = ['smallint', 'integer', 'bigint', 'numeric', 'float', 'double']

/** Whether PostgreSQL rounds a value, or cuts a part of it off, instead of refusing one that is another in the new type. */
export function isRounded(from: ParsedType, to: ParsedType): boolean {
  const isMoment = ({ base }: ParsedType) => base === 'date' || base.startsWith('time')
  const isNumber = ({ base }: ParsedType) => NUMBERS.includes(base)
  return [isMoment, isNumber].some((is) => is(from) && is(to) && !from.isArray && !to.isArray)
}

export function typeChange(kind: DatabaseKind, from: Column, to: Column): TypeChange {
  if (to.collation !== undefined && to.collation !== from.collation) return 'rewrites'
  if (from.enumValues || to.enumValues) return enumChange(kind, from, to)
  const [old, now] = [parseType(from.type), parseType(to.type)]
  if (old.isArray !== now.isArray) return 'casts'
  if (!isWider(kind, old, now)) return 'casts'
  return !old.isArray && isInPlace(kind, old, now) ? 'at once' : 'rewrites'
}

function enumChange(kind: DatabaseKind, { enumValues: old }: Column, to: Column): TypeChange {
  const { enumValues: values } = to
  if (!old) return 'casts'
  if (values) {
    if (!old.every((value) => values.includes(value))) return 'casts'
    const isAppended = isMysql(kind) && old.every((value, index) => values[index] === value)
    return isAppended && old.length < 256 === values.length < 256 ? 'at once' : 'rewrites'
  }
  const { base, sizes } = parseType(to.type)
  const longest = Math.max(...old.map((value) => value.length))
  return TEXTS.includes(base) && longest <= lengthOf({ base, sizes, isArray: false }) ? 'rewrites' : 'casts'
}

const TEXTS = ['character varying', 'tinytext', 'text', 'mediumtext', 'longtext', 'citext']
const SIZES_OF_TEXTS: Readonly<Record<string, number>> = { tinytext: 63, text: 16_383, mediumtext: 4_194_303 }

/** In characters, of at most four bytes on MySQL and MariaDB. Only there a `text` has an end, at 64 KiB. */
function lengthOf({ base, sizes }: ParsedType): number {
  return sizes[0] ?? SIZES_OF_TEXTS[base] ?? Infinity
}

const INTEGERS = ['tinyint', 'smallint', 'mediumint', 'integer', 'bigint']
const unsigned = (names: readonly string[]) => names.map((name) => `${name} unsigned`)
/** Each type has the values of those before it. */
const LADDERS: readonly (readonly string[])[] = [
  INTEGERS,
  unsigned(INTEGERS),
  ['smallint', 'integer', 'double'],
  ['float', 'double'],
  ['date', 'datetime'],
  ['tinyblob', 'blob', 'mediumblob', 'longblob'],
  ['tinytext', 'text', 'mediumtext', 'longtext'],
]

function isWider(kind: DatabaseKind, from: ParsedType, to: ParsedType): boolean {
  const isText = [from, to].every(({ base }) => base === 'character varying' || base === 'text')
  if (isText) return isLonger(kind, from, to)
  if (from.base === 'character varying' && TEXTS.includes(to.base)) return lengthOf(from) <= lengthOf(to)
  if (to.base === 'numeric') return isWiderNumeric(from, to)
  if (from.base === 'uuid') return ['character varying', 'text'].includes(to.base) && lengthOf(to) >= 36
  if (from.base === to.base) return from.sizes.every((size, index) => size <= (to.sizes[index] ?? defaultSize(kind)))
  return LADDERS.some((ladder) => {
    const [old, now] = [ladder.indexOf(from.base), ladder.indexOf(to.base)]
    return old >= 0 && old < now
  })
}

// PostgreSQL's texts have no end, and its timestamps six digits unless they say otherwise.
function defaultSize(kind: DatabaseKind): number {
  return kind === 'postgres' ? Infinity : 0
}

function isLonger(kind: DatabaseKind, from: ParsedType, to: ParsedType): boolean {
  if (!isMysql(kind)) return (from.sizes[0] ?? Infinity) <= (to.sizes[0] ?? Infinity)
  return lengthOf(from) <= lengthOf(to)
}

const DIGITS: Readonly<Record<string, number>> = { tinyint: 3, smallint: 5, mediumint: 7, integer: 10, bigint: 19 }

function isWiderNumeric(from: ParsedType, { sizes: [precision, scale = 0] }: ParsedType): boolean {
  const digits = DIGITS[from.base]
  if (precision === undefined) return digits !== undefined || from.base === 'numeric'
  if (digits !== undefined) return precision - scale >= digits
  const [oldPrecision, oldScale = 0] = from.sizes
  if (from.base !== 'numeric' || oldPrecision === undefined) return false
  return scale >= oldScale && precision - scale >= oldPrecision - oldScale
}

/** Whether the engine keeps the rows as they are. */
function isInPlace(kind: DatabaseKind, from: ParsedType, to: ParsedType): boolean {
  if (kind === 'sqlite') return false
  if (isMysql(kind)) return from.base === to.base && from.base === 'character varying' && hasSameLengthBytes(from, to)
  if (from.base === 'numeric') return to.sizes.length === 0 || (from.sizes[1] ?? 0) === (to.sizes[1] ?? 0)
  const isText = ['character varying', 'text'].includes(from.base) && ['character varying', 'text'].includes(to.base)
  return isText || (from.base === to.base && from.base.startsWith('time'))
}

// The length of a value is stored in one byte up to 255 bytes, and then in two.
function hasSameLengthBytes(from: ParsedType, to: ParsedType): boolean {
  return lengthOf(from) * 4 < 256 === lengthOf(to) * 4 < 256
}
