import { memo } from '../../core/memo.js'
import { compileEncoder } from './encode.js'
import type { Shape } from '../shape/shape.js'

/** Writes a returned value as JSON. */
export type Stringify = (value: unknown) => string

/**
 * The writer of a shape, compiled at its first value: writing the OpenAPI document has found what is wrong with the shape. The writer throws a
 * ResponseMismatchError for a value that does not match the shape.
 */
export function compileStringify(shape: Shape): Stringify {
  const encode = memo(() => compileEncoder(shape))
  return (value) => JSON.stringify(encode()(value))
}
