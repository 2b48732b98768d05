import { escapePointer } from './grammar.js'
import type { Issue } from './issue.js'

const TEXT = 'must not contain U+0000 or half of a surrogate pair'
const NUMBER = `must be a number from ${-Number.MAX_VALUE} to ${Number.MAX_VALUE}`

// JSON in UTF-8 can hold such texts only by an escape, `\u0000` or `\ud83c`, and such numbers only by hundreds of digits or an exponent.
/** Whether a JSON text may have {@link illFormedValues}: few do, so that few need to be walked. */
export function mayBeIllFormed(json: string): boolean {
  return /\\u(?:0000|d[89a-f])|\d[e]\+?0*[1-9]\d\d|\d{200}/i.test(json)
}

/**
 * Values that a database or JSON could not hold: PostgreSQL stores no U+0000, a lone surrogate has no UTF-8 form, and what is beyond
 * the largest number was read as Infinity.
 */
export function illFormedValues(value: unknown, path = ''): Issue[] {
  if (typeof value === 'string') return isWellFormed(value) ? [] : [{ path, message: TEXT }]
  if (typeof value === 'number') return Number.isFinite(value) ? [] : [{ path, message: NUMBER }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) =>
    // What a key that cannot be written contains is not shown: its path would not be well-formed either.
    isWellFormed(key) ? illFormedValues(item, `${path}/${escapePointer(key)}`) : [{ path, message: TEXT }],
  )
}

function isWellFormed(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}
