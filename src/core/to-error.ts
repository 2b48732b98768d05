import { types } from 'node:util'
import { describeError } from './log-text.js'

/**
 * A thrown value, as an error that streams and callbacks take. They have no error if it is `undefined`, `null` or another falsy value, and Node reads its
 * `stack`: a getter or a Proxy that throws would end the process.
 */
export function toError(thrown: unknown): Error {
  return isReadable(thrown) ? thrown : new Error(describeError(thrown))
}

/** The message of an error; the text of another thrown value. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

function isReadable(thrown: unknown): thrown is Error {
  if (types.isProxy(thrown)) return false
  try {
    return thrown instanceof Error && typeof thrown.stack === 'string' && hasReadableCode(thrown)
  } catch {
    return false
  }
}

function hasReadableCode(error: Error): boolean {
  void ('code' in error && error.code)
  return true
}
