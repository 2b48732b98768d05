import { inspect } from 'node:util'
import { BootError, withPlace } from './core/boot-error.js'
import { checkOptions, type OptionChecks, text, unchecked } from './core/option-checks.js'
import { shown } from './core/options.js'
import { provide, type Provision } from './di/provider.js'
import { isConstructor } from './di/token.js'
import { compileDecoder } from './schema/input/decode.js'
import { parseString } from './schema/input/parse-string.js'
import { COMPONENT, ValidatorCompiler } from './schema/input/validate.js'
import { SchemaWriter } from './schema/json-schema/writer.js'
import { type ObjectShape, propertiesOf, type Shape } from './schema/shape/shape.js'
import { shapeOf } from './schema/shape/shape-of.js'

/** Where settings are read from. */
export interface SettingsOptions {
  /** The beginning of the names of the variables, such as `APP_`. Default: nothing. */
  readonly prefix?: string
  /** The variables by their names. Default: `process.env`. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

const OPTIONS: OptionChecks<SettingsOptions> = { prefix: text(`a string, such as 'APP_'`), env: unchecked }

/**
 * Reads the fields of a class from environment variables, and makes it injectable: for `createApp({ providers })`.
 *
 * The variable of `stripeKey` or `stripe_key` is `STRIPE_KEY`. An empty one counts as not set. A list is separated by commas.
 *
 * @throws BootError that names everything that is missing or wrong. It contains no values, because they may be secret.
 * @example
 * class Settings {
 *   @Field({ minLength: 20 }) stripeKey!: string
 *   @Field({ type: 'integer', default: 3 }) retries!: number
 * }
 * createApp({ controllers: [OrderController], providers: [settings(Settings)] })
 */
export function settings<T extends object>(type: new () => T, options: SettingsOptions = {}): Provision {
  return provide(type, { value: readSettings(type, options) })
}

/**
 * Reads the fields of a class from environment variables, for what is not injected. The result is frozen, and prints its names without their values.
 *
 * @throws BootError, as {@link settings} does.
 * @example
 * const { port } = readSettings(Settings)
 * await app.listen(port)
 */
export function readSettings<T extends object>(type: new () => T, options: SettingsOptions = {}): T {
  checkOptions('settings()', options, OPTIONS)
  const { prefix = '', env = process.env } = options
  if (!isConstructor(type))
    throw new BootError(`settings(): ${shown(type)} is not a class. Write a class with @Field() properties.`)
  const shape = withPlace(`settings(${type.name})`, () => objectShapeOf(type))
  const names = variableNames(shape, prefix)
  const json = jsonOf(shape, names, env)
  refuseInvalid(shape, names, json)
  return Object.freeze(withoutPrintedValues(compileDecoder(shape)(json) as T)) // an instance: the shape is that of the class
}

function objectShapeOf(type: object): ObjectShape {
  const shape = shapeOf(type)
  if (shape.kind !== 'object' || shape.rowKey) throw new BootError('it is not a class with @Field() properties.')
  for (const [name, { shape: inner }] of propertiesOf(shape, 'input')) refuseComplex(name, inner)
  return shape
}

const COMPLEX: ReadonlySet<Shape['kind']> = new Set(['object', 'union', 'standard', 'any'])

// A variable is one string, and schemas of other libraries may validate asynchronously.
function refuseComplex(name: string, shape: Shape): void {
  const { kind } = shape.kind === 'array' ? shape.items : shape
  if (COMPLEX.has(kind) || kind === 'array')
    throw new BootError(
      `${name} is of a type that a variable cannot have. Write a string, a number, a boolean, a date, or a list of one.`,
    )
}

/** stripeKey -> STRIPE_KEY */
function variableNames(shape: ObjectShape, prefix: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>()
  for (const [property] of propertiesOf(shape, 'input')) {
    const name = prefix + property.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2').toUpperCase()
    const other = [...names].find(([, taken]) => taken === name)?.[0]
    if (other !== undefined)
      throw new BootError(`settings(${shape.name}): ${other} and ${property} are both ${name}. Rename one of them.`)
    names.set(property, name)
  }
  return names
}

function jsonOf(
  shape: ObjectShape,
  names: ReadonlyMap<string, string>,
  env: Readonly<Record<string, string | undefined>>,
): Record<string, unknown> {
  const given = propertiesOf(shape, 'input').flatMap(([property, { shape: inner }]) => {
    const text = env[names.get(property) ?? '']
    return text ? [[property, parsed(inner, text)] as const] : []
  })
  return Object.fromEntries(given)
}

function parsed(shape: Shape, text: string): unknown {
  if (shape.kind !== 'array') return parseString(shape, text)
  const parts = text.split(',').map((part) => part.trim())
  return parts.filter((part) => part !== '').map((part) => parseString(shape.items, part))
}

function refuseInvalid(shape: ObjectShape, names: ReadonlyMap<string, string>, json: unknown): void {
  const writer = new SchemaWriter({ forValidation: true, prefix: COMPONENT })
  const schema = writer.write(shape, 'input')
  const issues = new ValidatorCompiler(writer.components).compile(schema)(json)
  if (issues.length === 0) return
  const lines = issues.map(({ path, message }) => {
    const [, property = '', item] = path.split('/')
    return `  ${names.get(property)}${item === undefined ? '' : `, value ${Number(item) + 1}`} ${message}`
  })
  throw new BootError(`The environment does not fit ${shape.name}:\n${[...new Set(lines)].join('\n')}`)
}

/** Logs contain what inspect() and JSON.stringify() write. */
function withoutPrintedValues<T extends object>(value: T): T {
  const names = () => Object.fromEntries(Object.keys(value).map((name) => [name, '[hidden]']))
  const hidden = { value: () => names() }
  return Object.defineProperties(value, {
    [inspect.custom]: { value: () => `${value.constructor.name} { ${Object.keys(value).join(', ')} }` },
    toJSON: hidden,
  })
}
