import { escapePointer } from './grammar.js'
import type { Issue } from './issue.js'

const MESSAGE = 'must not contain U+0000 or half of a surrogate pair'

// JSON in UTF-8 can hold them only by an escape, `\u0000` or `\ud83c`.
/** Whether a JSON text may have {@link illFormedTexts}: few do, so that few need to be walked. */
export function mayBeIllFormed(json: string): boolean {
  return /\\u(?:0000|d[89a-f])/i.test(json)
}

/** Texts that a database or JSON could not hold: PostgreSQL stores no U+0000, a lone surrogate has no UTF-8 form. */
export function illFormedTexts(value: unknown, path = ''): Issue[] {
  if (typeof value === 'string') return isWellFormed(value) ? [] : [{ path, message: MESSAGE }]
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) =>
    // What a key that cannot be written contains is not shown: its path would not be well-formed either.
    isWellFormed(key) ? illFormedTexts(item, `${path}/${escapePointer(key)}`) : [{ path, message: MESSAGE }],
  )
}

function isWellFormed(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}
