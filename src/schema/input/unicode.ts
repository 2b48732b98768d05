import { escapePointer, type Issue } from '../shape/issue.js'

const TEXT = 'must not contain U+0000 or half of a surrogate pair'
const NUMBER = `must be a number from ${-Number.MAX_VALUE} to ${Number.MAX_VALUE}`

/**
 * The issues of values that a database or JSON cannot hold, at most `most` of them: PostgreSQL does not store U+0000, a lone surrogate
 * has no UTF-8 encoding, and JSON.parse() reads a number that is too large as Infinity.
 */
export function illFormedStrings(value: unknown, path: string, most: number): readonly Issue[] {
  const issues: Issue[] = []
  collect(value, { keys: [], path, most, issues })
  return issues
}

interface Search {
  /** The keys that lead to the value. They are written as a path only for issues. */
  readonly keys: (string | number)[]
  readonly path: string
  readonly most: number
  readonly issues: Issue[]
}

function collect(value: unknown, search: Search): void {
  if (search.issues.length >= search.most) return
  if (typeof value === 'string') return isWellFormed(value) ? undefined : report(TEXT, search)
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : report(NUMBER, search)
  if (typeof value !== 'object' || value === null) return
  if (Array.isArray(value)) return value.forEach((item, index) => within(index, item, search))
  for (const key of Object.keys(value)) {
    // An ill-formed key is reported at its object: a path that contains the key would be ill-formed, too.
    if (isWellFormed(key)) within(key, Reflect.get(value, key), search)
    else if (search.issues.length < search.most) report(TEXT, search)
  }
}

function within(key: string | number, value: unknown, search: Search): void {
  search.keys.push(key)
  collect(value, search)
  search.keys.pop()
}

function report(message: string, { keys, path, issues }: Search): void {
  issues.push({ path: path + keys.map((key) => `/${escapePointer(String(key))}`).join(''), message })
}

function isWellFormed(text: string): boolean {
  return !text.includes('\u0000') && text.isWellFormed()
}
