import { escapePointer } from '../shape/issue.js'

/** A returned value does not match the declared response. `path` is a JSON Pointer to the value. */
export class ResponseMismatchError extends Error {
  override name = 'ResponseMismatchError'
  readonly path: string
  readonly reason: string

  constructor(path: string, reason: string) {
    super(`${path || '/'} ${reason}`)
    this.path = path
    this.reason = reason
  }

  /** The error with `key` in front of its path; any other error unchanged. */
  static at(key: string | number, error: unknown): unknown {
    return error instanceof ResponseMismatchError
      ? new ResponseMismatchError(`/${escapePointer(String(key))}${error.path}`, error.reason)
      : error
  }
}

/** @throws ResponseMismatchError always. */
export function refuseMismatch(value: unknown, declared: string): never {
  throw new ResponseMismatchError('', `is ${describe(value)}, declared ${declared}`)
}

function describe(value: unknown): string {
  if (value instanceof Promise) return 'a promise that was not awaited'
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : (value?.constructor?.name ?? 'an object')
  return typeof value === 'number' || typeof value === 'bigint' ? `the ${typeof value} ${value}` : `a ${typeof value}`
}
