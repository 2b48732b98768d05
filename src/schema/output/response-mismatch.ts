import { escapePointer } from '../shape/issue.js'

/** A value that does not fit the declared response. `path` is a JSON Pointer to it. */
export class ResponseMismatchError extends Error {
  override name = 'ResponseMismatchError'
  readonly path: string
  readonly reason: string

  constructor(path: string, reason: string) {
    super(`${path || '/'} ${reason}`)
    this.path = path
    this.reason = reason
  }

  static at(key: string | number, error: unknown): unknown {
    return error instanceof ResponseMismatchError
      ? new ResponseMismatchError(`/${escapePointer(String(key))}${error.path}`, error.reason)
      : error
  }
}

/** @throws ResponseMismatchError always: the value is not what was declared. */
export function refuseMismatch(value: unknown, declared: string): never {
  throw new ResponseMismatchError('', `is ${describe(value)}, declared ${declared}`)
}

function describe(value: unknown): string {
  if (value instanceof Promise) return 'a promise that nobody awaited'
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : (value?.constructor?.name ?? 'an object')
  return typeof value === 'number' || typeof value === 'bigint' ? `the ${typeof value} ${value}` : `a ${typeof value}`
}
