import type { Readable } from 'node:stream'
import { toError } from '../../core/to-error.js'

/**
 * Lets a stream of the program fail with any value. Node reads the `stack` and the `code` of its error where nothing catches what they throw: a getter, or
 * a Proxy that was revoked, would end the process. Replaces methods of this one stream.
 */
export function makeErrorsReadable(source: Readable): void {
  const { destroy, _destroy, emit } = source
  source.destroy = (error) => destroy.call(source, readable(error))
  source._destroy = (error, done) => _destroy.call(source, error, (failure) => done(readable(failure)))
  source.emit = (event: string | symbol, ...values: unknown[]) =>
    emit.call(source, event, ...(event === 'error' ? [toError(values[0])] : values))
}

function readable<E>(error: E): E | Error {
  return error ? toError(error) : error
}
