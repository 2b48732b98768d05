import { refuseMismatch, ResponseMismatchError } from './response-mismatch.js'
import { stringifyUntyped, UntypedValueError } from './untyped-value.js'

/**
 * Any JSON value. It is stringified and parsed, so that toJSON() is called once: a second call could return something that was not checked.
 */
export function encodeAny(value: unknown): unknown {
  if (typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)) return value
  const text = writeAny(value)
  return text === undefined ? refuseMismatch(value, 'any JSON value') : JSON.parse(text)
}

function writeAny(value: unknown): string | undefined {
  try {
    return stringifyUntyped(value)
  } catch (error) {
    if (!(error instanceof UntypedValueError)) throw error
    const { path, what, remedy, described } = error
    const declare =
      described && `Declare them: @Field({ type: ${described} }), or return a plain object with the public ones.`
    throw new ResponseMismatchError(
      path,
      `is ${what}, declared any JSON value. ${remedy}${declare ? ` ${declare}` : ''}`,
    )
  }
}
