import { BootError } from '../core/boot-error.js'
import { ignoreRejections } from '../core/ignore-rejections.js'
import { refuseOtherThanWhole, shown } from '../core/options.js'
import { isConstructor } from '../di/token.js'
import { HttpError } from './errors.js'
import { ErrorRuleError } from './problem.js'

/** A class of errors of the program, and the response to them. Made by {@link mapError}. */
export interface ErrorMapping {
  readonly type: abstract new (...args: never[]) => Error
  readonly toHttpError: (error: Error) => HttpError
}

/**
 * Gives the errors of a class, and of its subclasses, a status or a response of their own, wherever they are thrown: for `createApp({ errors })`.
 *
 * With a status, the message of the error is the `detail` of the response, from 500 on only that of the log.
 *
 * @throws BootError for a class or a status that is none.
 * @example
 * mapError(OutOfStock, 409)
 * mapError(PaymentDeclined, ({ code, message }) => new HttpError(402, message, { extensions: { code } }))
 */
export function mapError<E extends Error>(
  type: abstract new (...args: never[]) => E,
  response: number | ((error: E) => HttpError),
): ErrorMapping {
  if (!isConstructor(type))
    throw new BootError(`mapError(): ${shown(type)} is not a class. Write mapError(OutOfStock, 409).`)
  if (type.prototype instanceof HttpError || (type as unknown) === HttpError)
    throw new BootError(`mapError(): ${type.name} has a status already, as it extends HttpError. Remove the mapping.`)
  if (typeof response === 'function') return { type, toHttpError: response as ErrorMapping['toHttpError'] } // called with errors of the class
  refuseOtherThanWhole(
    response,
    `mapError(): the status of ${type.name}`,
    'the status of an error, as in 409',
    400,
    599,
  )
  return {
    type,
    toHttpError: (cause) => new HttpError(response, response < 500 ? cause.message : undefined, { cause }),
  }
}

/** Finds the response to an error; undefined for one of no mapped class. */
export type FindMapped = (error: unknown) => HttpError | undefined

/** The first mapping that fits is used. */
export function findMappedIn(mappings: readonly ErrorMapping[]): FindMapped {
  return (error) => {
    const mapping = mappings.find(({ type }) => error instanceof type)
    return mapping && httpErrorOf(mapping, error as Error) // an instance of the mapped class
  }
}

// The function may call conflict(), which throws.
function httpErrorOf({ type, toHttpError }: ErrorMapping, error: Error): HttpError {
  try {
    const made: unknown = toHttpError(error)
    if (made instanceof HttpError) return made
    ignoreRejections(made)
    throw new TypeError(`The function returned ${shown(made)}, which is no HttpError.`)
  } catch (thrown) {
    if (thrown instanceof HttpError) return thrown
    throw new ErrorRuleError(`The function of mapError(${type.name}, ...) failed.`, { cause: thrown })
  }
}

export function isErrorMapping(value: unknown): value is ErrorMapping {
  return typeof value === 'object' && value !== null && 'toHttpError' in value
}
