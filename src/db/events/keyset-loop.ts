import type { WorkRecord } from '../../core/events/work-record.js'
import { tokensOf } from '../sql/lexer.js'
import { isLiteral } from '../sql/shape.js'
import type { StatementSource } from '../statements/statement-source.js'

/*
 * A loop that reads a list in batches sends one statement again and again: WHERE id > $1 ORDER BY id LIMIT 100, each time with the key of the last row
 * that it has got. That is no N+1: a batch cannot be read before the one before it.
 */

/** A statement of a request, or job, and the last row of its answer. */
interface Batch {
  readonly sql: string
  readonly source: StatementSource | undefined
  /** Undefined until it is answered, and if there was not more than one. */
  row?: unknown
}

/** The last statement of each shape that may be a batch. */
const batches = new WeakMap<WorkRecord, Map<string, Batch>>()

/** A value in a statement. */
interface Slot {
  readonly value: unknown
  /** Whether it is the bound of an inequality. */
  readonly isBound: boolean
}

/** How a statement continues a list that it has read. */
export interface ReadBatch {
  /** Whether it reads what follows the last row of the same statement before it. */
  readonly isNext: boolean
  /** Call it with what the statement has returned. */
  readonly answered: (rows: readonly unknown[]) => void
}

/** A statement that may read a batch of a list. */
export function readBatch(
  work: WorkRecord,
  { sql, shape, dialect }: { readonly sql: string; readonly shape: string; readonly dialect: string },
  source: StatementSource | undefined,
): ReadBatch {
  const known = batches.get(work) ?? new Map<string, Batch>()
  batches.set(work, known)
  const previous = known.get(shape)
  const batch: Batch = { sql, source }
  known.set(shape, batch)
  const isNext =
    previous?.row !== undefined && follows(slotsOf(batch, dialect), slotsOf(previous, dialect), previous.row)
  // A statement for each row is an N+1, also if each has the key of the one before.
  return { isNext, answered: (rows) => (batch.row = rows.length > 1 ? rows.at(-1) : undefined) }
}

/** Whether only the values of the key have changed, to those of the last row. */
function follows(slots: readonly Slot[], before: readonly Slot[], row: unknown): boolean {
  if (slots.length !== before.length) return false
  const changed = slots.filter(({ value }, index) => textOf(value) !== textOf(before[index]?.value))
  if (!changed.some(({ isBound }) => isBound)) return false
  const known = new Set(valuesOf(row).map(textOf))
  return changed.every(({ value }) => known.has(textOf(value)))
}

function valuesOf(row: unknown): readonly unknown[] {
  if (typeof row !== 'object' || row === null) return []
  const values: unknown = Reflect.get(row, 'dataValues') // of an instance
  return Object.values(typeof values === 'object' && values !== null ? values : row)
}

const DATE = /^\d{4}-\d\d-\d\d[ T]\d\d:\d\d/

/** The same for a value of a row, and for the same value in a statement. */
function textOf(value: unknown): string {
  if (value instanceof Date) return String(value.getTime())
  const text = String(value)
  if (!DATE.test(text)) return text
  const time = Date.parse(/[Z+]|-\d\d:?\d\d$/.test(text) ? text : `${text}Z`)
  return Number.isNaN(time) ? text : String(time)
}

/** The values of a statement in their order, bound ones and literals. */
function slotsOf({ sql, source }: Batch, dialect: string): readonly Slot[] {
  const slots: Slot[] = []
  const values = boundValues(source)
  let next = 0
  let at = 0
  const add = (from: number, to: number, value: unknown) => {
    const before = sql.slice(at, from)
    const isNextOfRow = slots.at(-1)?.isBound === true && /^\s*,\s*$/.test(before)
    slots.push({ value, isBound: isNextOfRow || endsWithComparison(before) })
    at = to
  }
  const addPlain = (from: number, to: number) => {
    for (const { 0: text, index } of sql.slice(from, to).matchAll(PLAIN)) {
      const value = /^[\d.]/.test(text) ? text : text === '?' ? values[next++] : Reflect.get(values, keyOf(text))
      add(from + index, from + index + text.length, value)
    }
  }
  let plain = 0
  for (const { kind, start, end } of tokensOf(sql, dialect)) {
    if (kind === 'marker' || kind === 'parenthesis') continue
    addPlain(plain, start)
    if (kind === 'quoted' && isLiteral(sql, start, dialect)) add(start, end, textInQuotes(sql.slice(start, end)))
    plain = end
  }
  addPlain(plain, sql.length)
  return slots
}

/** Placeholders and numbers. */
const PLAIN = /(?<![\w$:])(?:\$\w+|\?|:[A-Za-z_]\w*)|(?<![\w$@:?.\u0080-\uffff])\d[\d.]*/g

// `id > `, and `(name, id) > (`
function endsWithComparison(text: string): boolean {
  const end = text.trimEnd()
  return /(?<![<>-])[<>]=?$/.test(end.endsWith('(') ? end.slice(0, -1).trimEnd() : end)
}

// $1 is the first value, and $name or :name one of an object.
function keyOf(placeholder: string): string {
  const name = placeholder.slice(1)
  return /^\d+$/.test(name) ? String(Number(name) - 1) : name
}

function textInQuotes(literal: string): string {
  const quote = literal.charAt(literal.length - 1)
  return literal.slice(literal.indexOf(quote) + 1, -1).replaceAll(quote + quote, quote)
}

function boundValues(source: StatementSource | undefined): readonly unknown[] {
  const values = source && (('bind' in source ? source.bind : undefined) ?? replacedOrBound(source))
  return typeof values === 'object' && values !== null ? (values as readonly unknown[]) : [] // or an object, by names
}

function replacedOrBound(source: StatementSource): unknown {
  return (
    ('replacements' in source ? source.replacements : undefined) ?? ('values' in source ? source.values : undefined)
  )
}
