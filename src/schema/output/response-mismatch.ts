import { ignoreRejections } from '../../core/promises.js'
import { escapePointer } from '../../core/json-pointer.js'

/** A returned value does not match the declared response. `path` is a JSON Pointer to the value. */
export class ResponseMismatchError extends Error {
  override name = 'ResponseMismatchError'
  readonly path: string
  readonly reason: string
  /** The innermost record that contains the value, with its key: `Hero { id: 17 }`. */
  readonly record: string | undefined

  constructor(path: string, reason: string, record?: string) {
    super(`${path || '/'} ${reason}${record === undefined ? '' : ` (in ${record})`}`)
    this.path = path
    this.reason = reason
    this.record = record
  }

  /** The error with `key` in front of its path, and with this record unless a record within it has a key; any other error unchanged. */
  static at(key: string | number, error: unknown, record?: string): unknown {
    return error instanceof this
      ? new this(`/${escapePointer(String(key))}${error.path}`, error.reason, error.record ?? record)
      : error
  }
}

/** The record as messages name it; undefined if it does not have the properties of its key. */
export function describeRecord(name: string, key: readonly string[], record: object): string | undefined {
  const values = key.map((property): unknown => Reflect.get(record, property))
  if (values.length === 0 || !values.every(isKeyValue)) return undefined
  return `${name} { ${key.map((property, index) => `${property}: ${String(values[index])}`).join(', ')} }`
}

function isKeyValue(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint'
}

/** @throws ResponseMismatchError always. */
export function refuseMismatch(value: unknown, declared: string): never {
  throw new ResponseMismatchError('', `is ${describeValue(value)}, declared ${declared}`)
}

function describeValue(value: unknown): string {
  if (value instanceof Promise) {
    ignoreRejections(value)
    return 'a promise that was not awaited'
  }
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? 'an invalid Date' : `the Date ${value.toISOString()}`
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : (value?.constructor?.name ?? 'an object')
  return typeof value === 'number' || typeof value === 'bigint' ? `the ${typeof value} ${value}` : `a ${typeof value}`
}
