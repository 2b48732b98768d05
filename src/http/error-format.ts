import { BootError } from '../core/boot-error.js'
import { shown } from '../core/options.js'
import { compileStringify } from '../schema/output/encode.js'
import { shapeOf } from '../schema/shape/shape-of.js'
import type { DataOf, Shape } from '../schema/shape/shape.js'
import { type ErrorBodies, ErrorRuleError, type Problem, PROBLEM_DETAILS, toProblem, UNKNOWN } from './problem.js'

/** The format of error response bodies. Made by {@link errorFormat}. */
export interface ErrorFormat {
  readonly mediaType: string
  /** The class of the body; undefined for RFC 9457. */
  readonly type: unknown
  body(problem: Problem): unknown
}

/** Writes the bodies of error responses, and documents them. */
export interface DocumentedBodies extends ErrorBodies {
  /** Undefined for RFC 9457. */
  readonly shape: Shape | undefined
}

/**
 * The body of every error response, in the OpenAPI document too: for `createApp({ errors: { format } })`.
 *
 * @param type the class of the body, declared like a response; only its properties are sent.
 * @param body makes the body of the details: `status`, `title`, `detail`, the `errors` of a 422, and others.
 * @example
 * class ErrorBody {
 *   @Field({ type: [String] }) messages!: string[]
 * }
 * const format = errorFormat(ErrorBody, ({ title, detail = title }) => ({ messages: [detail] }))
 */
export function errorFormat<const S>(
  type: S,
  body: (problem: Problem) => DataOf<S>,
  { mediaType = 'application/json' }: { readonly mediaType?: string } = {},
): ErrorFormat {
  return { type, body, mediaType }
}

const SAMPLES: readonly Problem[] = [
  toProblem({ status: 404 }),
  toProblem({ status: 422, detail: 'It is wrong.', errors: [{ in: 'body', path: '/name', message: 'is required' }] }),
  toProblem(UNKNOWN, 'urn:request:1'),
]

/** @throws BootError when the format cannot write the sample problems. */
export function compileErrorFormat(format: ErrorFormat | undefined): DocumentedBodies {
  if (format === undefined) return { ...PROBLEM_DETAILS, shape: undefined }
  const shape = shapeOf(format.type)
  const stringify = compileStringify(shape)
  const { mediaType, body } = format
  const write = (problem: Problem) => stringify(body(problem))
  for (const sample of SAMPLES) tryFormat(sample, write)
  return { mediaType, shape, write: (problem) => written(problem, write) }
}

function written(problem: Problem, write: (problem: Problem) => string): string {
  try {
    return write(problem)
  } catch (cause) {
    throw new ErrorRuleError(`errors.format cannot write ${JSON.stringify(problem)}.`, { cause })
  }
}

function tryFormat(sample: Problem, write: (problem: Problem) => string): void {
  try {
    write(sample)
  } catch (cause) {
    throw new BootError(
      `createApp(): errors.format cannot write ${JSON.stringify(sample)}: ${cause instanceof Error ? cause.message : shown(cause)} ` +
        'detail, instance and errors are missing in some: write a body for each status.',
      { cause },
    )
  }
}

export function isErrorFormat(value: unknown): value is ErrorFormat {
  return typeof value === 'object' && value !== null && 'mediaType' in value
}
