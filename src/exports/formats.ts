import { BootError } from '../core/boot-error.js'
import { memo } from '../core/memo.js'
import { compileEncoder, compileStringify } from '../schema/output/encode.js'
import { type ObjectShape, propertiesOf, type Shape } from '../schema/shape/shape.js'

/** How rows are written in a media type. */
export interface Format {
  readonly contentType: string
  /** The end of the name of a file. */
  readonly extension: string
  /** Before the first row. */
  readonly begin?: string
  /** The text of rows. @param isFirst whether the first one has none before it. */
  write(rows: readonly unknown[], isFirst: boolean): string
  /** After the last row. */
  readonly end?: string
  /** Whether a line with a problem may follow the last row that could be read. */
  readonly endsWithProblem?: boolean
}

export type MediaType = 'application/x-ndjson' | 'application/json' | 'text/csv'

/** In the order in which they are preferred. */
export const MEDIA_TYPES: readonly [MediaType, ...MediaType[]] = [
  'application/x-ndjson',
  'application/json',
  'text/csv',
]

/**
 * Each format of items of this shape, compiled when it is first requested.
 *
 * @param isForSpreadsheets whether CSV has an apostrophe before a text that a spreadsheet would calculate.
 * @throws BootError for items without a fixed list of properties, for messages of the route `name`.
 */
export function formatsOf(item: Shape, name: string, isForSpreadsheets: boolean): (media: MediaType) => Format {
  if (item.kind !== 'object')
    throw new BootError(
      `${name}: Rows.of() declares rows without names for the columns of CSV. Write a class with fields, a model, or a dto: Rows.of(HeroRow).`,
    )
  const stringify = compileStringify(item, { rows: true })
  const formats: Readonly<Record<MediaType, () => Format>> = {
    'application/x-ndjson': memo(() => ({
      contentType: 'application/x-ndjson',
      extension: 'ndjson',
      write: (rows) => joined(rows, (row) => `${stringify(row)}\n`),
      endsWithProblem: true,
    })),
    'application/json': memo(() => ({
      contentType: 'application/json; charset=utf-8',
      extension: 'json',
      begin: '[',
      write: (rows, isFirst) => joined(rows, (row, at) => `${isFirst && at === 0 ? '' : ',\n'}${stringify(row)}`),
      end: ']',
    })),
    'text/csv': memo(() => csvOf(item, isForSpreadsheets)),
  }
  return (media) => formats[media]()
}

/** Lines of CSV (RFC 4180). A cell has the text that JSON has for the value; a list or an object is JSON. NULL is an empty cell, and an empty string `""`. */
function csvOf(item: ObjectShape, isForSpreadsheets: boolean): Format {
  const encode = compileEncoder(item, { rows: true })
  // Rows have no associated rows: these are read with an include.
  const columns = propertiesOf(item, 'output').filter(([, { associated }]) => !associated)
  const isText = columns.map(([, { shape }]) => !NUMERIC.has(shape.kind))
  const line = (row: unknown) => {
    const values = encode(row) as Readonly<Record<string, unknown>> // of an object
    return columns.map(([name], at) => cell(values[name], isForSpreadsheets && isText[at] === true)).join(',')
  }
  return {
    contentType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    begin: `${columns.map(([name]) => quoted(name)).join(',')}\r\n`,
    write: (rows) => joined(rows, (row) => `${line(row)}\r\n`),
  }
}

/** Kinds whose values are numbers, also where JSON has them as strings: they may begin with a minus. */
const NUMERIC: ReadonlySet<Shape['kind']> = new Set(['integer', 'number', 'bigint', 'decimal', 'boolean'])

function cell(value: unknown, isEscaped: boolean): string {
  if (value === null || value === undefined) return ''
  if (value === '') return '""'
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return quoted(isEscaped && typeof value === 'string' && FORMULA.test(text) ? `'${text}` : text)
}

/** Source: OWASP, CSV Injection. */
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/

const SPECIAL = /[",\r\n]|^\s|\s$/

function quoted(text: string): string {
  return SPECIAL.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

function joined(rows: readonly unknown[], write: (row: unknown, at: number) => string): string {
  let text = ''
  for (const [at, row] of rows.entries()) text += write(row, at)
  return text
}
