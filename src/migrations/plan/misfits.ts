import { isMysql } from '../../db/is-mysql.js'
import type { Column, DatabaseKind } from '../../db/catalog/catalog.js'
import { quoteText } from './names.js'
import { parseType } from './type-change.js'

/** The smallest and the greatest value. */
const RANGES: Readonly<Record<string, readonly [string, string]>> = {
  tinyint: ['-128', '127'],
  smallint: ['-32768', '32767'],
  mediumint: ['-8388608', '8388607'],
  integer: ['-2147483648', '2147483647'],
  bigint: ['-9223372036854775808', '9223372036854775807'],
  'tinyint unsigned': ['0', '255'],
  'smallint unsigned': ['0', '65535'],
  'mediumint unsigned': ['0', '16777215'],
  'integer unsigned': ['0', '4294967295'],
  'bigint unsigned': ['0', '18446744073709551615'],
}

/**
 * The condition of rows whose value does not fit into another type, or would change there. Undefined if only the cast itself can say it.
 *
 * @param value the column, as SQL.
 */
export function misfit(kind: DatabaseKind, value: string, from: Column, to: Column): string | undefined {
  const { base, sizes, isArray } = parseType(to.type)
  if (to.enumValues) return isNoneOf(kind, value, to.enumValues, isArray)
  if (isArray) return undefined
  const [size, scale = 0] = sizes
  if (base === 'character varying' || base === 'character')
    return size === undefined ? 'FALSE' : `${lengthOf(kind, textOf(kind, value))} > ${size}`
  if (base === 'text') return 'FALSE'
  const number = numberOf(kind, value, from)
  const range = RANGES[base]
  if (number === undefined || (!range && base !== 'numeric')) return undefined
  if (range)
    return `NOT (${number.is}) OR ${number.value} NOT BETWEEN ${range.join(' AND ')} OR ${number.value} <> round(${number.value})`
  if (size === undefined) return `NOT (${number.is})`
  const limit = `1${'0'.repeat(size - scale)}`
  return `NOT (${number.is}) OR abs(${number.value}) >= ${limit} OR ${number.value} <> round(${number.value}, ${scale})`
}

function isNoneOf(kind: DatabaseKind, value: string, values: readonly string[], isArray: boolean): string {
  const list = values.map((one) => quoteText(kind, one)).join(', ')
  return isArray ? `NOT (${value})::text[] <@ ARRAY[${list}]::text[]` : `${textOf(kind, value)} NOT IN (${list})`
}

function textOf(kind: DatabaseKind, value: string): string {
  if (kind === 'postgres') return `(${value})::text`
  return isMysql(kind) ? `concat(${value}, '')` : `CAST(${value} AS TEXT)`
}

function lengthOf(kind: DatabaseKind, text: string): string {
  return isMysql(kind) ? `char_length(${text})` : `length(${text})`
}

/** `1.50` -> `1.5`: as SQLite writes the number. */
function withoutLastZeros(text: string): string {
  const isDecimal = `length(${text}) - length(replace(${text}, '.', '')) = 1`
  return `CASE WHEN ${isDecimal} THEN rtrim(rtrim(${text}, '0'), '.') ELSE ${text} END`
}

const NUMBERS = /^(?:tinyint|smallint|mediumint|integer|bigint|numeric|float|double)(?: unsigned)?$/
const TEXTS = /^(?:character varying|character|tinytext|text|mediumtext|longtext)$/

/** The value as an exact number, and the condition that it is one. */
function numberOf(
  kind: DatabaseKind,
  value: string,
  from: Column,
): { readonly value: string; readonly is: string } | undefined {
  const { base, isArray } = parseType(from.type)
  if (isArray || from.enumValues) return undefined
  const exact = isMysql(kind)
    ? `CAST(${value} AS DECIMAL(65, 20))`
    : kind === 'postgres'
      ? `(${value})::numeric`
      : `CAST(${value} AS NUMERIC)`
  if (NUMBERS.test(base)) return { value: exact, is: 'TRUE' }
  if (!TEXTS.test(base)) return undefined
  if (kind === 'sqlite')
    return { value: exact, is: `CAST(${exact} AS TEXT) = ${withoutLastZeros(`CAST(${value} AS TEXT)`)}` }
  const pattern = `'^ *[-+]?[0-9]+([.][0-9]*)? *$'`
  if (isMysql(kind)) return { value: exact, is: `${value} REGEXP ${pattern}` }
  return { value: `CASE WHEN ${value} ~ ${pattern} THEN ${exact} END`, is: `${value} ~ ${pattern}` }
}
