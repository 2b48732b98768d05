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

export type Place = 'path' | 'query' | 'header' | 'body'

/** Where an input is, and what may be said of it beyond its type. */
export interface InputOptions extends ValueOptions {
  /** Its name in the request; the parameter's own by default. */
  readonly name?: string
}

const INPUT_OPTIONS: OptionNames<InputOptions> = { ...VALUE_OPTIONS, name: true }

/** What a decorator, or a provider of this package, says of an input. */
export interface InputDeclaration {
  readonly in: Place
  readonly options: InputOptions
}

/** Something that a client sends, ready to be bound, validated and documented. */
export type Input =
  | {
      readonly kind: 'value'
      readonly in: 'path' | 'query' | 'header'
      readonly name: string
      readonly property: Property
    }
  /** A class, or a schema of another library, whose properties each come from the query, or from a header. */
  | {
      readonly kind: 'group'
      readonly in: 'query' | 'header'
      readonly shape: ObjectShape
      /** What checks it, and makes its value: a class by its fields, or a schema of another library. */
      readonly whole: ObjectShape | StandardShape
    }
  | { readonly kind: 'body'; readonly in: 'body'; readonly property: Property }

type NameOrOptions = string | InputOptions | TypeOption

/**
 * A variable of the path. Without the decorator, a parameter of a primitive type takes the variable of its own name.
 *
 * @example
 * @Get('/:id') get(@Path('id') hero_id: number) {}
 */
export function Path(nameOrOptions?: string | InputOptions, options?: InputOptions): ParameterDecorator {
  return declare('path', nameOrOptions, options)
}

/**
 * A parameter of the query. On a parameter whose class has fields: each field is one. One that may be left out has a default, or is
 * said to be optional: of a `?` alone nothing is left at run time.
 *
 * @example
 * list(@Query({ optional: true }) age?: number, @Query({ enum: ['asc', 'desc'], default: 'asc' }) order: string, @Query() filter: HeroFilter) {}
 */
export function Query(nameOrOptions?: string | InputOptions, options?: InputOptions): ParameterDecorator {
  return declare('query', nameOrOptions, options)
}

/**
 * A header of the request. Underscores in the parameter's name stand for hyphens.
 *
 * @example
 * list(@Header() accept_language: string, @Header('x-tenant', { format: 'uuid' }) tenant: string) {}
 */
export function Header(nameOrOptions?: string | InputOptions, options?: InputOptions): ParameterDecorator {
  return declare('header', nameOrOptions, options)
}

/**
 * The JSON body. Without the decorator, a parameter whose class has fields takes it on POST, PUT and PATCH.
 *
 * @example
 * addMany(@Body({ type: [HeroInput], maxItems: 100 }) heroes: HeroInput[]) {}
 */
export function Body(options?: InputOptions): ParameterDecorator {
  return declare('body', options, undefined)
}

function declare(
  place: Place,
  nameOrOptions: NameOrOptions | undefined,
  options: InputOptions | undefined,
): ParameterDecorator {
  const named =
    typeof nameOrOptions === 'string'
      ? { ...options, name: nameOrOptions }
      : ((nameOrOptions as InputOptions | undefined) ?? {})
  return (target, member, index) => {
    const input: InputDeclaration = { in: place, options: named }
    declareParameter(target, member as string | undefined, index, { kind: 'input', input })
  }
}

const PRIMITIVES: ReadonlySet<unknown> = new Set([String, Number, Boolean, BigInt, Date])

/** Reads the inputs of one route: its rules depend on the path's variables and on the method. */
export class RouteInputs {
  readonly #variables: readonly string[]
  readonly #takesBody: boolean

  constructor(variables: readonly string[], method: string) {
    this.#variables = variables
    this.#takesBody = method === 'POST' || method === 'PUT' || method === 'PATCH'
  }

  /** A primitive is the path's variable of its name, else a query parameter; a described class is the body. */
  infer(parameter: Parameter): Input | undefined {
    if (PRIMITIVES.has(parameter.type)) {
      const place = parameter.name !== undefined && this.#variables.includes(parameter.name) ? 'path' : 'query'
      return this.declared({ in: place, options: {} }, parameter)
    }
    return this.#takesBody && isDescribed(parameter.type)
      ? this.declared({ in: 'body', options: {} }, parameter)
      : undefined
  }

  /** @throws BootError for an input without a name or a type, or that asks for a variable which the path does not have. */
  declared(input: unknown, parameter: Parameter | undefined): Input {
    const declaration = input as InputDeclaration // written by declare() above, and by paging
    const where = parameter ? describeParameter(parameter) : `input '${declaration.options.name ?? '?'}'`
    refuseUnknownOptions(`@${decoratorOf(declaration.in)}() of ${where}`, declaration.options, INPUT_OPTIONS)
    const property = toInputProperty(declaration, parameter, where)
    refuseModelInputs(property.shape, where)
    if (declaration.in === 'body') {
      refuseMereMark('body', property, parameter, where)
      return { kind: 'body', in: 'body', property }
    }
    refuseComplexParameters(property.shape, declaration.in, where)
    const group = declaration.in === 'path' ? undefined : groupOf(property.shape)
    if (group && declaration.in !== 'path') return { kind: 'group', in: declaration.in, ...group }
    if (declaration.in !== 'path') refuseMereMark(declaration.in, property, parameter, where)
    const name = this.#nameOf(declaration, parameter, where)
    return { kind: 'value', in: declaration.in, name, property }
  }

  #nameOf({ in: place, options }: InputDeclaration, parameter: Parameter | undefined, where: string): string {
    const name = options.name ?? parameter?.name
    if (name === undefined)
      throw new BootError(`${where} is destructured and so has no name: say it, @${decoratorOf(place)}('name').`)
    if (place === 'path' && !this.#variables.includes(name)) {
      const known = this.#variables.map((variable) => `:${variable}`).join(', ') || 'none'
      throw new BootError(`${where}: the path has no variable :${name}; it has ${known}.`)
    }
    if (place !== 'header') return name
    return options.name === undefined ? headerName(name) : options.name.toLowerCase()
  }
}

// What runs in production does not know of it either: there it would be required.
function refuseMereMark(place: Place, { optional }: Property, parameter: Parameter | undefined, where: string): void {
  if (optional || !parameter?.optional) return
  throw new BootError(
    `${where}: nothing of its '?' is left at run time, so that it would be required. ` +
      `Write @${decoratorOf(place)}({ optional: true }) ${parameter.name}?: ..., or a default.`,
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
  { in: place, options }: InputDeclaration,
  parameter: Parameter | undefined,
  where: string,
): Property {
  const type = typeOf(place, options, parameter, where)
  const { shape, optional, ...rest } = toProperty(type, options, where)
  // A literal default is shown in the documentation; the function itself applies it. Null says only that there is none.
  const literal = parameter?.hasDefault ? (parameter.defaultValue ?? undefined) : undefined
  const shown = literal === undefined ? {} : { default: defaultOf(shape, literal, where) }
  return { shape, optional: optional || parameter?.hasDefault === true, ...shown, ...rest }
}

function typeOf(place: Place, options: InputOptions, parameter: Parameter | undefined, where: string): unknown {
  const type = options.type ?? parameter?.type
  if (options.enum !== undefined || options.oneOf !== undefined) return type
  if (type === Number && place === 'path') return 'integer'
  if (PRIMITIVES.has(type) || isKnown(type)) return type
  const emitted = typeof type === 'function' ? `'${type.name}'` : 'nothing'
  const examples =
    place === 'body'
      ? [`type: HeroInput`, `type: [HeroInput]`, `type: 'any'`]
      : [`type: 'integer'`, `type: [String]`, `enum: ['asc', 'desc']`]
  throw new BootError(
    `${where}: the compiler emitted ${emitted}, which does not say what to read (an array, a union, an interface, or a class brought by 'import type'). ` +
      `Say it: ${examples.map((example) => `@${decoratorOf(place)}({ ${example} })`).join(', ')}.`,
  )
}

function isKnown(type: unknown): boolean {
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

function decoratorOf(place: Place): string {
  return { path: 'Path', query: 'Query', header: 'Header', body: 'Body' }[place]
}

/** An input declared in code instead of by a decorator; for providers that read the request. */
export function inputDependency(
  place: Place,
  options: InputOptions & { readonly name: string; readonly type: TypeOption },
) {
  const input: InputDeclaration = { in: place, options }
  return { kind: 'input', input } as const
}
