import { BootError } from '../../core/boot-error.js'
import { shown } from '../../core/options.js'
import { compileDecoder } from '../input/decode.js'
import { compileEncoder } from '../output/encode.js'
import { ResponseMismatchError } from '../output/response-mismatch.js'
import { SchemaWriter } from '../json-schema/writer.js'
import { memo } from '../../core/memo.js'
import type { Shape } from '../shape/shape.js'
import { type Validate, ValidatorCompiler } from '../input/validate.js'

/**
 * The default of a property as a handler is given it: a text for a date becomes a `Date`.
 *
 * @throws BootError when it is of another type, or breaks the property's own rules.
 */
export function defaultOf(shape: Shape, value: unknown, where: string): unknown {
  const json = fittingJson(shape, value, `${where}: its default`)
  // Lists and the like are made anew for each request.
  return shape.kind === 'standard' || typeof value === 'object' ? value : compileDecoder(shape)(json)
}

/** An example as the document shows it. @throws BootError when it is none of the property. */
export function exampleOf(shape: Shape, value: unknown, where: string): unknown {
  // A class may refer to itself: its properties are not known while one of them is being declared.
  return isScalar(shape) ? fittingJson(shape, value, `${where}: its example`) : value
}

function isScalar(shape: Shape): boolean {
  if (shape.kind === 'array') return isScalar(shape.items)
  return shape.kind !== 'object' && shape.kind !== 'union' && shape.kind !== 'standard'
}

function fittingJson(shape: Shape, value: unknown, what: string): unknown {
  const json = toJson(shape, value, what)
  const [issue] = shape.kind === 'standard' ? [] : validatorOf(shape)(json)
  if (!issue) return json
  const given = typeof value === 'object' ? '' : ` ${shown(value)}`
  throw new BootError(`${what}${given}${at(issue.path)} ${issue.message}. Give one that fits, or leave it away.`)
}

/** Of these a value is given as JSON has it; what comes from a database may be written otherwise. */
const PLAIN: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'enum'])

function toJson(shape: Shape, value: unknown, what: string): unknown {
  try {
    const json = compileEncoder(shape)(value)
    if (!PLAIN.has(shape.kind) || json === value) return json
    throw new ResponseMismatchError('', `is ${shown(value)}, declared ${shape.kind}`)
  } catch (error) {
    throw error instanceof ResponseMismatchError
      ? new BootError(`${what}${at(error.path)} ${error.reason}. Give one that fits.`)
      : error
  }
}

function at(path: string): string {
  return path && ` at ${path}`
}

const compiler = memo(() => new ValidatorCompiler(new Map()))
const validators = new Map<string, Validate>()

// Many routes have the same defaults, such as those of pages, and compiling takes time.
function validatorOf(shape: Shape): Validate {
  const writer = new SchemaWriter({ forValidation: true })
  const schema = writer.write(shape, 'input')
  if (writer.components.size > 0) return new ValidatorCompiler(writer.components).compile(schema)
  const key = JSON.stringify(schema)
  const known = validators.get(key) ?? compiler().compile(schema)
  validators.set(key, known)
  return known
}
