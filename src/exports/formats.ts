import { memo } from '../core/memo.js'
import type { ObjectShape } from '../schema/shape/shape.js'
import { compileStringify } from '../schema/output/encode.js'
import { compileCsv } from './csv.js'

/** How rows are written in a media type. */
export interface Format {
  readonly contentType: string
  /** The end of the name of a file. */
  readonly extension: string
  /** Before the first row. */
  readonly begin: string
  /** The text of rows. @param isFirst whether the first one has none before it. */
  write(rows: readonly unknown[], isFirst: boolean): string
  /** After the last row. */
  readonly end: string
  /** Whether a line with a problem may follow the last row that could be read. */
  readonly endsWithProblem: boolean
}

export type MediaType = 'application/x-ndjson' | 'application/json' | 'text/csv'

/** In the order in which they are preferred. */
export const MEDIA_TYPES: readonly [MediaType, ...MediaType[]] = [
  'application/x-ndjson',
  'application/json',
  'text/csv',
]

/** Each format of items of this shape, compiled when it is first requested. */
export function formatsOf(item: ObjectShape, isForSpreadsheets: boolean): (media: MediaType) => Format {
  const stringify = compileStringify(item)
  const csv = memo(() => csvOf(item, isForSpreadsheets))
  const ndjson: Format = {
    contentType: 'application/x-ndjson',
    extension: 'ndjson',
    begin: '',
    write: (rows) => joined(rows, (row) => `${stringify(row)}\n`),
    end: '',
    endsWithProblem: true,
  }
  const json: Format = {
    contentType: 'application/json; charset=utf-8',
    extension: 'json',
    begin: '[',
    write: (rows, isFirst) => joined(rows, (row, at) => `${isFirst && at === 0 ? '' : ',\n'}${stringify(row)}`),
    end: ']',
    endsWithProblem: false,
  }
  return (media) => {
    switch (media) {
      case 'application/x-ndjson':
        return ndjson
      case 'application/json':
        return json
      case 'text/csv':
        return csv()
    }
  }
}

function csvOf(item: ObjectShape, isForSpreadsheets: boolean): Format {
  const { header, line } = compileCsv(item, isForSpreadsheets)
  return {
    contentType: 'text/csv; charset=utf-8; header=present',
    extension: 'csv',
    begin: `${header}\r\n`,
    write: (rows) => joined(rows, (row) => `${line(row)}\r\n`),
    end: '',
    endsWithProblem: false,
  }
}

function joined(rows: readonly unknown[], write: (row: unknown, at: number) => string): string {
  let text = ''
  for (const [at, row] of rows.entries()) text += write(row, at)
  return text
}
