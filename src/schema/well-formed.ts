import { escapePointer, type Issue } from './validate.js'

const MESSAGE = 'must not contain U+0000 or half of a surrogate pair'

/** Texts that a database or JSON could not hold: PostgreSQL stores no U+0000, a lone surrogate has no UTF-8 form. */
export function illFormedTexts(value: unknown, path = ''): Issue[] {
  if (typeof value === 'string')
    return value.includes('\u0000') || !value.isWellFormed() ? [{ path, message: MESSAGE }] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, item]) => illFormedTexts(item, `${path}/${escapePointer(key)}`))
}
