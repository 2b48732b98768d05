import { BootError } from '../core/boot-error.js'
import { compileEncoder } from '../schema/output/encode.js'
import { type ObjectShape, propertiesOf, type Shape } from '../schema/shape/shape.js'

/** How a line of CSV is made of a row. */
export interface CsvLines {
  readonly header: string
  line(row: unknown): string
}

/** The properties of an item, as the columns of CSV. @throws BootError for items without a fixed list of properties. */
export function csvColumns(item: Shape, name: string): ObjectShape {
  if (item.kind === 'object') return item
  throw new BootError(
    `${name}: Rows.of() declares rows without names for the columns of CSV. Write a class with fields, a model, or a dto: Rows.of(HeroRow).`,
  )
}

/**
 * Lines of CSV (RFC 4180). A cell has the text that JSON has for the value; a list or an object is JSON. NULL is an empty cell, and an empty string `""`.
 *
 * @param isForSpreadsheets whether an apostrophe is put before a text that a spreadsheet would calculate.
 */
export function compileCsv(item: ObjectShape, isForSpreadsheets: boolean): CsvLines {
  const encode = compileEncoder(item)
  // Rows have no associated rows: these are read with an include.
  const columns = propertiesOf(item, 'output').filter(([, { associated }]) => !associated)
  const isText = columns.map(([, { shape }]) => !NUMERIC.has(shape.kind))
  return {
    header: columns.map(([name]) => quoted(name)).join(','),
    line(row) {
      const values = encode(row) as Readonly<Record<string, unknown>> // of an object
      return columns.map(([name], at) => cell(values[name], isForSpreadsheets && isText[at] === true)).join(',')
    },
  }
}

/** Kinds whose values are numbers, also where JSON has them as strings: they may begin with a minus. */
const NUMERIC: ReadonlySet<Shape['kind']> = new Set(['integer', 'number', 'bigint', 'decimal', 'boolean'])

function cell(value: unknown, isEscaped: boolean): string {
  if (value === null || value === undefined) return ''
  if (value === '') return '""'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return quoted(isEscaped && FORMULA.test(text) ? `'${text}` : text)
}

/** Source: OWASP, CSV Injection. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

const SPECIAL = /[",\r\n]|^\s|\s$/

function quoted(text: string): string {
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
