import { isDeepStrictEqual } from 'node:util'
import { BootError } from '../../core/boot-error.js'
import { shown } from '../../core/options.js'
import { compileDecoder } from '../input/decode.js'
import { compileEncoder } from '../output/encode.js'
import { ResponseMismatchError } from '../output/response-mismatch.js'
import { SchemaWriter } from '../json-schema/writer.js'
import { memo } from '../../core/memo.js'
import type { Shape } from '../shape/shape.js'
import { surelyFits } from '../input/surely-fits.js'
import { COMPONENT, type Validate, ValidatorCompiler } from '../input/validate.js'

/**
 * The default of a property as handlers receive it: a string for a `date-time` becomes a `Date`.
 *
 * @throws BootError when it is of another type, or violates a constraint of the property.
 */
export function defaultOf(shape: Shape, value: unknown, where: string): unknown {
  const json = validJson(shape, value, `${where}: its default`)
  // Lists and other objects are copied for each request: see compileDefault().
  return shape.kind === 'standard' || typeof value === 'object' ? value : compileDecoder(shape)(json)
}

/** @throws BootError when a declared default is another one than that in the source, `age = 3`. */
export function refuseSecondDefault(declared: unknown, written: unknown, where: string): void {
  if (declared === undefined || isDeepStrictEqual(declared, written)) return
  throw new BootError(
    `${where} has two defaults, ${shown(declared)} in its decorator and ${shown(written)} after its name. Remove one of them.`,
  )
}

/** An example as the OpenAPI document shows it. @throws BootError when it is not a value of the property. */
export function exampleOf(shape: Shape, value: unknown, where: string): unknown {
  // Examples of objects are not checked: while a class declares a property, the others may not be known yet.
  return isScalar(shape) ? validJson(shape, value, `${where}: its example`) : value
}

function isScalar(shape: Shape): boolean {
  if (shape.kind === 'array') return isScalar(shape.items)
  return shape.kind !== 'object' && shape.kind !== 'union' && shape.kind !== 'standard'
}

function validJson(shape: Shape, value: unknown, what: string): unknown {
  const json = toJson(shape, value, what)
  const [issue] = shape.kind === 'standard' || surelyFits(shape, json) ? [] : validatorOf(shape)(json)
  if (!issue) return json
  const given = typeof value === 'object' ? '' : ` ${shown(value)}`
  throw new BootError(`${what}${given}${at(issue.path)} ${issue.message}. Write one that fits, or remove it.`)
}

/** Kinds whose defaults must be JSON values already. The encoder alone would also accept '5' for an integer, as databases return it. */
const JSON_KINDS: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'enum'])

function toJson(shape: Shape, value: unknown, what: string): unknown {
  if (shape.kind === 'enum' && value !== null && !shape.values.includes(value as never))
    // never: any value is looked up
    throw new BootError(
      `${what} ${shown(value)} is not one of ${shape.values.map(shown).join(', ')}. Write one that fits, or remove it.`,
    )
  try {
    const json = compileEncoder(shape, { checks: false })(value)
    if (!JSON_KINDS.has(shape.kind) || json === value) return json
    throw new ResponseMismatchError('', `is ${shown(value)}, declared ${shape.kind}`)
  } catch (error) {
    throw error instanceof ResponseMismatchError
      ? new BootError(`${what}${at(error.path)} ${error.reason}. Write one that fits.`)
      : error
  }
}

function at(path: string): string {
  return path && ` at ${path}`
}

const compiler = memo(() => new ValidatorCompiler(new Map()))
const validators = new Map<string, Validate>()

// Kept, as compiling takes time and many routes have the same defaults, such as those of page sizes.
function validatorOf(shape: Shape): Validate {
  const writer = new SchemaWriter({ forValidation: true, prefix: COMPONENT })
  const schema = writer.write(shape, 'input')
  if (writer.components.size > 0) return new ValidatorCompiler(writer.components).compile(schema)
  const key = JSON.stringify(schema)
  const known = validators.get(key) ?? compiler().compile(schema)
  validators.set(key, known)
  return known
}
