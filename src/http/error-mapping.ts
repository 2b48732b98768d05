import { BootError } from '../core/boot-error.js'
import { ignoreRejections } from '../core/promises.js'
import { integer } from '../core/option-checks.js'
import { shown } from '../core/options.js'
import { isConstructor } from '../di/token.js'
import { HttpError } from './errors.js'
import { ErrorRuleError, type FindMapped, type OwnResponse, UNKNOWN } from './problem.js'

/** A class of errors of the program, and the response to them. Made by {@link mapError}. */
export interface ErrorMapping {
  readonly type: abstract new (...args: never[]) => Error
  readonly toHttpError: (error: Error, own: () => OwnResponse | undefined) => HttpError
}

const status = integer('the status of an error, as in 409', 400, 599)

/**
 * Gives the errors of a class, and of its subclasses, a status or a response of their own, wherever they are thrown: for `createApp({ errors })`.
 *
 * With a status, the message of the error is the `detail` of the response, from 500 on only that of the log. Errors of the database keep the `detail` and
 * the `errors` that they have without a mapping: their messages differ between databases, and may contain names of tables.
 *
 * @param response a status, or a function of the error and of the response that it would have without the mapping.
 * @throws BootError for a class or a status that is none.
 * @example
 * mapError(OutOfStock, 409)
 * mapError(PaymentDeclined, ({ code, message }) => new HttpError(402, message, { extensions: { code } }))
 * mapError(UniqueConstraintError, (_, { errors }) => new HttpError(422, 'has been taken', { errors }))
 */
export function mapError<E extends Error>(
  type: abstract new (...args: never[]) => E,
  response: number | ((error: E, own: OwnResponse) => HttpError),
): ErrorMapping {
  if (!isConstructor(type))
    throw new BootError(`mapError(): ${shown(type)} is not a class. Write mapError(OutOfStock, 409).`)
  if (type.prototype instanceof HttpError || (type as unknown) === HttpError)
    throw new BootError(
      `mapError(): ${type.name} already has a status, because it extends HttpError. Remove the mapping.`,
    )
  if (typeof response === 'function') {
    const toHttpError = response as (error: Error, own: OwnResponse) => HttpError // called with errors of the class
    return { type, toHttpError: (error, own) => toHttpError(error, own() ?? { ...UNKNOWN, errors: [] }) }
  }
  status(response, `mapError(): the status of ${type.name}`)
  return {
    type,
    toHttpError: (cause, own) => {
      if (response >= 500) return new HttpError(response, undefined, { cause })
      const { detail = cause.message, errors = [] } = own() ?? {}
      return new HttpError(response, detail, { cause, errors })
    },
  }
}

/** The first mapping that fits is used. */
export function findMappedIn(mappings: readonly ErrorMapping[]): FindMapped {
  return (error, own) => {
    const mapping = mappings.find(({ type }) => error instanceof type)
    return mapping && httpErrorOf(mapping, error as Error, own) // an instance of the mapped class
  }
}

// The function may call conflict(), which throws.
function httpErrorOf({ type, toHttpError }: ErrorMapping, error: Error, own: () => OwnResponse | undefined): HttpError {
  try {
    const made: unknown = toHttpError(error, own)
    if (made instanceof HttpError) return made
    ignoreRejections(made)
    throw new TypeError(`The function returned ${shown(made)}, which is not an HttpError.`)
  } catch (thrown) {
    if (thrown instanceof HttpError) return thrown
    throw new ErrorRuleError(`The function of mapError(${type.name}, ...) failed.`, { cause: thrown })
  }
}

export function isErrorMapping(value: unknown): value is ErrorMapping {
  return typeof value === 'object' && value !== null && 'toHttpError' in value
}
