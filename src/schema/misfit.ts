import { escapePointer } from './grammar.js'

/** A value that does not fit the declared response. `path` is a JSON Pointer to it. */
export class MisfitError extends Error {
  override name = 'MisfitError'
  readonly path: string
  readonly reason: string

  constructor(path: string, reason: string) {
    super(`${path || '/'} ${reason}`)
    this.path = path
    this.reason = reason
  }

  static at(key: string | number, error: unknown): unknown {
    return error instanceof MisfitError
      ? new MisfitError(`/${escapePointer(String(key))}${error.path}`, error.reason)
      : error
  }
}

/** @throws MisfitError always: the value is not what was declared. */
export function misfit(value: unknown, declared: string): never {
  throw new MisfitError('', `is ${describe(value)}, declared ${declared}`)
}

function describe(value: unknown): string {
  if (value instanceof Promise) return 'a promise that nobody awaited'
  if (typeof value === 'object') return Array.isArray(value) ? 'an array' : (value?.constructor?.name ?? 'an object')
  return typeof value === 'number' || typeof value === 'bigint' ? `the ${typeof value} ${value}` : `a ${typeof value}`
}
