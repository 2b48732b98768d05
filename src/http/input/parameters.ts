import { declareParameter, describeParameter, type Parameter } from '../../di/parameter.js'
import { BootError } from '../../core/boot-error.js'
import { type OptionNames, refuseUnknownOptions } from '../../core/options.js'
import { defaultOf } from '../../schema/declare/default-value.js'
import { toProperty } from '../../schema/declare/field.js'
import { refuseModelInputs } from '../../schema/declare/refuse-model-inputs.js'
import type { ObjectShape, Property, Shape, StandardShape } from '../../schema/shape/shape.js'
import { isDescribed } from '../../schema/shape/shape-of.js'
import { isStandardSchema } from '../../schema/shape/standard-schema.js'
import { standardSchemaProperties } from '../../schema/input/parse-string.js'
import { refuseComplexParameters } from '../../schema/declare/refuse-complex-parameters.js'
import { type TypeOption, VALUE_OPTIONS, type ValueOptions } from '../../schema/declare/value-options.js'

/** The part of the request that an input is read from. */
export type InputLocation = 'path' | 'query' | 'header' | 'body'

/** The name of an input, its type, and its constraints. */
export interface InputOptions extends ValueOptions {
  /** Its name in the request. Default: the parameter's name. */
  readonly name?: string
}

const INPUT_OPTIONS: OptionNames<InputOptions> = { ...VALUE_OPTIONS, name: true }

/** An input as a decorator, or a provider of this package, declares it. */
export interface InputDeclaration {
  readonly in: InputLocation
  readonly options: InputOptions
}

/** A value that the client sends, with all that is needed to read, validate and document it. */
export type Input =
  | {
      readonly kind: 'value'
      readonly in: 'path' | 'query' | 'header'
      readonly name: string
      readonly property: Property
    }
  /** A class, or a schema of another library, whose properties are query parameters or headers of their own. */
  | {
      readonly kind: 'group'
      readonly in: 'query' | 'header'
      readonly shape: ObjectShape
      /** The shape that validates and decodes it: the class, or the schema of another library. */
      readonly whole: ObjectShape | StandardShape
    }
  | { readonly kind: 'body'; readonly in: 'body'; readonly property: Property }

/**
 * A variable of the path. Without a decorator, a parameter of a primitive type is the variable of the same name.
 *
 * @example
 * @Get('/:id') get(@Path('id') hero_id: number) { return { hero_id } }
 */
export function Path(nameOrOptions?: string | InputOptions, options?: InputOptions): ParameterDecorator {
  return declare('path', nameOrOptions, options)
}

/**
 * A query parameter. On a parameter whose class has fields, each field is a query parameter. An optional one needs a default or
 * `optional: true`: a `?` does not exist at run time.
 *
 * @example
 * @Get('/') list(@Query({ optional: true }) age?: number, @Query({ enum: ['asc', 'desc'] }) order = 'asc') { return { age, order } }
 */
export function Query(nameOrOptions?: string | InputOptions, options?: InputOptions): ParameterDecorator {
  return declare('query', nameOrOptions, options)
}

/**
 * A header of the request. Underscores in the parameter's name become hyphens.
 *
 * @example
 * @Get('/') list(@Header() accept_language: string, @Header('x-tenant', { format: 'uuid' }) tenant: string) { return { tenant } }
 */
export function Header(nameOrOptions?: string | InputOptions, options?: InputOptions): ParameterDecorator {
  return declare('header', nameOrOptions, options)
}

/**
 * The JSON body. Without a decorator, a parameter whose class has fields is the body of POST, PUT and PATCH.
 *
 * @example
 * @Post('/') addMany(@Body({ type: [HeroInput], maxItems: 100 }) heroes: HeroInput[]) { return { added: heroes.length } }
 */
export function Body(options?: InputOptions): ParameterDecorator {
  return declare('body', options, undefined)
}

function declare(
  location: InputLocation,
  nameOrOptions: string | InputOptions | undefined,
  options: InputOptions | undefined,
): ParameterDecorator {
  const named = typeof nameOrOptions === 'string' ? { ...options, name: nameOrOptions } : (nameOrOptions ?? {})
  return (target, member, index) => {
    const input: InputDeclaration = { in: location, options: named }
    declareParameter(target, member, index, { kind: 'input', input })
  }
}

const PRIMITIVES: ReadonlySet<unknown> = new Set([String, Number, Boolean, BigInt, Date])

/** Decides which parameters of one route are inputs, and where they are read: that depends on the path's variables and on the method. */
export class RouteInputs {
  readonly #variables: readonly string[]
  readonly #takesBody: boolean

  constructor(variables: readonly string[], method: string) {
    this.#variables = variables
    this.#takesBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
  }

  /** A primitive is the path variable of the same name, else a query parameter; a class with fields is the body. */
  infer(parameter: Parameter): Input | undefined {
    if (PRIMITIVES.has(parameter.type)) {
      const location = parameter.name !== undefined && this.#variables.includes(parameter.name) ? 'path' : 'query'
      return this.declared({ in: location, options: {} }, parameter)
    }
    return this.#takesBody && isDescribed(parameter.type)
      ? this.declared({ in: 'body', options: {} }, parameter)
      : undefined
  }

  /** @throws BootError for an input without a name or a type, and for a variable that the path does not have. */
  declared(input: unknown, parameter: Parameter | undefined): Input {
    const declaration = input as InputDeclaration // made by declare() and inputDependency() in this file; unknown to di
    const where = parameter ? describeParameter(parameter) : `input '${declaration.options.name ?? '?'}'`
    refuseUnknownOptions(`@${decoratorOf(declaration.in)}() of ${where}`, declaration.options, INPUT_OPTIONS)
    const property = toInputProperty(declaration, parameter, where)
    refuseModelInputs(property.shape, where)
    if (declaration.in === 'body') {
      refuseLostOptional('body', property, parameter, where)
      return { kind: 'body', in: 'body', property }
    }
    refuseComplexParameters(property.shape, declaration.in, where)
    const group = declaration.in === 'path' ? undefined : groupOf(property.shape)
    if (group && declaration.in !== 'path') return { kind: 'group', in: declaration.in, ...group }
    if (declaration.in !== 'path') refuseLostOptional(declaration.in, property, parameter, where)
    const name = this.#nameOf(declaration, parameter, where)
    return { kind: 'value', in: declaration.in, name, property }
  }

  #nameOf({ in: location, options }: InputDeclaration, parameter: Parameter | undefined, where: string): string {
    const name = options.name ?? parameter?.name
    if (name === undefined)
      throw new BootError(
        `${where} is destructured and has no name. Write its name: @${decoratorOf(location)}('name').`,
      )
    if (location === 'path' && !this.#variables.includes(name)) {
      const known = this.#variables.map((variable) => `:${variable}`).join(', ') || 'none'
      throw new BootError(`${where}: the path has no variable :${name}; it has ${known}.`)
    }
    if (location !== 'header') return name
    return options.name === undefined ? headerName(name) : options.name.toLowerCase()
  }
}

// Only `sequitur/register` keeps the '?'. In code built by tsc the input would be required.
function refuseLostOptional(
  location: InputLocation,
  { optional }: Property,
  parameter: Parameter | undefined,
  where: string,
): void {
  if (optional || !parameter?.optional) return
  throw new BootError(
    `${where}: its '?' does not exist at run time, so it would be required. ` +
      `Write @${decoratorOf(location)}({ optional: true }) ${parameter.name}?: ..., or a default.`,
  )
}

function groupOf(shape: Shape): { shape: ObjectShape; whole: ObjectShape | StandardShape } | undefined {
  if (shape.kind === 'object') return { shape, whole: shape }
  const properties = shape.kind === 'standard' ? standardSchemaProperties(shape.schema) : undefined
  if (shape.kind !== 'standard' || !properties) return undefined
  const group = {
    kind: 'object',
    name: 'object',
    origin: properties,
    anonymous: true,
    properties: () => properties,
  } as const
  return { shape: group, whole: shape }
}

/** `accept_language` -> `accept-language` */
export function headerName(name: string): string {
  return name.replaceAll('_', '-').toLowerCase()
}

function toInputProperty(
  { in: location, options }: InputDeclaration,
  parameter: Parameter | undefined,
  where: string,
): Property {
  const type = typeOf(location, options, parameter, where)
  const { shape, optional, ...rest } = toProperty(type, options, where)
  // Only for the documentation: the function itself applies its default. A default of null means that there is none.
  const literal = parameter?.hasDefault ? (parameter.defaultValue ?? undefined) : undefined
  const documented = literal === undefined ? {} : { default: defaultOf(shape, literal, where) }
  return { shape, optional: optional || parameter?.hasDefault === true, ...documented, ...rest }
}

function typeOf(
  location: InputLocation,
  options: InputOptions,
  parameter: Parameter | undefined,
  where: string,
): unknown {
  const type = options.type ?? parameter?.type
  if (options.enum !== undefined || options.oneOf !== undefined) return type
  if (type === Number && location === 'path') return 'integer'
  if (PRIMITIVES.has(type) || isReadable(type)) return type
  const emitted = typeof type === 'function' ? `'${type.name}'` : 'nothing'
  const examples =
    location === 'body'
      ? [`type: HeroInput`, `type: [HeroInput]`, `type: 'any'`]
      : [`type: 'integer'`, `type: [String]`, `enum: ['asc', 'desc']`]
  throw new BootError(
    `${where}: the compiler emitted ${emitted}, which is not enough to read a value (an array, a union, an interface, or a class imported by 'import type'). ` +
      `Declare its type: ${examples.map((example) => `@${decoratorOf(location)}({ ${example} })`).join(', ')}.`,
  )
}

function isReadable(type: unknown): boolean {
  if (type === undefined || type === Object || type === Array || type === Function || type === Promise) return false
  return (
    typeof type !== 'function' ||
    isStandardSchema(type) ||
    isDescribed(type) ||
    !('prototype' in type) ||
    type === Buffer ||
    type === Uint8Array
  )
}

function decoratorOf(location: InputLocation): string {
  return { path: 'Path', query: 'Query', header: 'Header', body: 'Body' }[location]
}

/** An input that a provider reads from the request, such as a paginator: declared in code instead of by a decorator. */
export function inputDependency(
  location: InputLocation,
  options: InputOptions & { readonly name: string; readonly type: TypeOption },
) {
  const input: InputDeclaration = { in: location, options }
  return { kind: 'input', input } as const
}
