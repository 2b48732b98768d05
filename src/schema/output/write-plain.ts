/*
 * The short path of untyped-value.ts for small values: what JSON.stringify() spends on calling a function is a multiple of what they cost themselves.
 */

/** Levels, and parts of one level, from which a value is left to JSON.stringify(), which is faster for long ones, and finds circular ones. */
const MAX_LEVELS = 3
const MAX_PARTS = 8

/**
 * Writes a value as JSON.stringify() does, if it consists of strings, finite numbers, booleans, null, and plain objects and arrays of these without a
 * `toJSON()`, and is small; undefined for any other value. Each part is read once.
 */
export function writePlain(value: unknown): string | undefined {
  return write(value, 0)
}

function write(value: unknown, level: number): string | undefined {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
      return Number.isFinite(value) ? String(value) : undefined
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      return level < MAX_LEVELS && !('toJSON' in value) ? writeParts(value, level + 1) : undefined
    default:
      return undefined
  }
}

function writeParts(value: object, level: number): string | undefined {
  if (Array.isArray(value)) return writeItems(value, level)
  // The result of JSON.rawJSON() has no prototype.
  if (Object.getPrototypeOf(value) !== Object.prototype || Symbol.toStringTag in value) return undefined
  const keys = Object.keys(value)
  if (keys.length > MAX_PARTS) return undefined
  let text = ''
  for (const key of keys) {
    const part = (value as Readonly<Record<string, unknown>>)[key] // one of its keys
    if (part === undefined) continue
    const written = write(part, level)
    if (written === undefined) return undefined
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${written}`
  }
  return `{${text}}`
}

function writeItems(items: readonly unknown[], level: number): string | undefined {
  const { length } = items
  if (length > MAX_PARTS) return undefined
  let text = ''
  for (let index = 0; index < length; index++) {
    const item = items[index]
    const written = item === undefined ? 'null' : write(item, level)
    if (written === undefined) return undefined
    text += index === 0 ? written : `,${written}`
  }
  return `[${text}]`
}
