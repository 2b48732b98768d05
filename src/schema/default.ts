import { BootError } from '../di/errors.js'
import { shown } from '../di/options.js'
import { compileDecoder } from './decode.js'
import { compileEncoder, MisfitError } from './encode.js'
import { SchemaWriter } from './json-schema.js'
import { lazily } from './lazily.js'
import type { Shape } from './shape.js'
import { type Validate, ValidatorCompiler } from './validate.js'

/**
 * The default of a property as a handler is given it: a text for a date becomes a `Date`.
 *
 * @throws BootError when it is of another type, or breaks the property's own rules.
 */
export function defaultOf(shape: Shape, value: unknown, where: string): unknown {
  const json = toJson(shape, value, where)
  if (shape.kind === 'standard') return value
  const [issue] = validatorOf(shape)(json)
  if (issue)
    throw new BootError(
      `${where}: its default${typeof value === 'object' ? '' : ` ${shown(value)}`}${at(issue.path)} ${issue.message}. Give one that fits, or say optional: true instead.`,
    )
  // Lists and the like are made anew for each request.
  return typeof value === 'object' ? value : compileDecoder(shape)(json)
}

/** Of these a default is given as JSON has it; what comes from a database may be written otherwise. */
const PLAIN: ReadonlySet<string> = new Set(['string', 'integer', 'number', 'boolean', 'enum'])

function toJson(shape: Shape, value: unknown, where: string): unknown {
  try {
    const json = compileEncoder(shape)(value)
    if (!PLAIN.has(shape.kind) || json === value) return json
    throw new MisfitError('', `is ${shown(value)}, declared ${shape.kind}`)
  } catch (error) {
    throw error instanceof MisfitError
      ? new BootError(`${where}: its default${at(error.path)} ${error.reason}. Give one that fits.`)
      : error
  }
}

function at(path: string): string {
  return path && ` at ${path}`
}

const compiler = lazily(() => new ValidatorCompiler(new Map()))
const validators = new Map<string, Validate>()

// Many routes have the same defaults, such as those of pages, and compiling takes time.
function validatorOf(shape: Shape): Validate {
  const writer = new SchemaWriter()
  const schema = writer.write(shape)
  if (writer.components.size > 0) return new ValidatorCompiler(writer.components).compile(schema)
  const key = JSON.stringify(schema)
  const known = validators.get(key) ?? compiler().compile(schema)
  validators.set(key, known)
  return known
}
