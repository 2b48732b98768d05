import { declareParameter, describeParameter, type Parameter } from '../../di/parameter.js'
import { BootError } from '../../core/boot-error.js'
import type { Constructor } from '../../di/token.js'
import { flag } from '../../core/option-checks.js'
import { type OptionNames, refuseMissingCall, refuseUnknownOptions } from '../../core/options.js'
import { defaultOf, refuseSecondDefault } from '../../schema/declare/default-value.js'
import { toProperty } from '../../schema/declare/field.js'
import { refuseOtherEmitted } from '../../schema/declare/emitted-type.js'
import { refuseUnfitForms, refuseUnfitInputs } from '../../schema/declare/refuse-unfit-inputs.js'
import {
  type ObjectShape,
  propertiesOf,
  type Property,
  type Shape,
  type StandardShape,
} from '../../schema/shape/shape.js'
import { isDescribed, shapeOf } from '../../schema/shape/shape-of.js'
import { standardSchemaProperties } from '../../schema/input/body-properties.js'
import { refuseComplexParameters } from '../../schema/declare/refuse-complex-parameters.js'
import { type TypeOption, VALUE_OPTIONS } from '../../schema/declare/value-options.js'
import type { BodyMedia, PreparedMedia } from './body-media.js'
import {
  type BodyOptions,
  type InputDecorators,
  type InputOptions,
  type NamedInputDecorators,
  decoratorOf,
  type InputLocation,
  PRIMITIVES,
  typeOf,
} from './parameter-type.js'

const INPUT_OPTIONS: OptionNames<InputOptions> = { ...VALUE_OPTIONS, name: true }
const BODY_OPTIONS: OptionNames<BodyOptions> = { ...INPUT_OPTIONS, form: true }

/** An input as a decorator, or a provider of this package, declares it. */
export interface InputDeclaration {
  readonly in: InputLocation
  readonly options: BodyOptions
  /** The reader of the body, if it is not JSON. */
  readonly media?: BodyMedia
  /** Whether its reader refuses a request without it, although it is optional. */
  readonly demanded?: boolean
}

/** A value that the client sends, with all that is needed to read, validate and document it. */
export type Input =
  | {
      readonly kind: 'value'
      readonly in: 'path' | 'query' | 'header' | 'cookie'
      readonly name: string
      readonly property: Property
      /** The parameter, for messages. */
      readonly where: string
    }
  /** A class, or a schema of another library, whose properties are query parameters, headers or cookies of their own. */
  | {
      readonly kind: 'group'
      readonly in: 'query' | 'header' | 'cookie'
      readonly shape: ObjectShape
      /** The shape that validates and decodes it: the class, or the schema of another library. */
      readonly whole: ObjectShape | StandardShape
      readonly where: string
    }
  | {
      readonly kind: 'body'
      readonly in: 'body'
      readonly property: Property
      /** The fields of a form, if the body may be sent as one. */
      readonly form: ObjectShape | undefined
      /** The reader of the body, if it is not JSON. */
      readonly media: PreparedMedia | undefined
    }

/**
 * A variable of the path. Without a decorator, a parameter of a primitive type is the variable of the same name.
 *
 * @example
 * @Get('/:id') get(@Path('id') hero_id: number) { return { hero_id } }
 */
export const Path: NamedInputDecorators = (nameOrOptions?: string | InputOptions, options?: InputOptions) =>
  declare('path', nameOrOptions, options)

/**
 * A query parameter. On a parameter whose class has fields, each field is a query parameter. An optional one needs a default or
 * `optional: true`: a `?` does not exist at run time.
 *
 * @example
 * @Get('/') list(@Query({ optional: true }) age?: number, @Query({ enum: ['asc', 'desc'] }) order = 'asc') { return { age, order } }
 */
export const Query: NamedInputDecorators = (nameOrOptions?: string | InputOptions, options?: InputOptions) =>
  declare('query', nameOrOptions, options)

/**
 * A header of the request. Underscores in the parameter's name become hyphens.
 *
 * @example
 * @Get('/') list(@Header() accept_language: string, @Header('x-tenant', { format: 'uuid' }) tenant: string) { return { tenant } }
 */
export const Header: NamedInputDecorators = (nameOrOptions?: string | InputOptions, options?: InputOptions) =>
  declare('header', nameOrOptions, options)

/**
 * A cookie of the request. Of several with one name, the first one counts. An optional one needs a default or `optional: true`. For cookies
 * that authenticate, use `@Cookie()` in a class with {@link Security}.
 *
 * @example
 * @Get('/') show(@Cookie({ enum: ['dark', 'light'], default: 'light' }) theme: string) { return { theme } }
 */
export const Cookie: NamedInputDecorators = (nameOrOptions?: string | InputOptions, options?: InputOptions) =>
  declare('cookie', nameOrOptions, options)

/**
 * The JSON body. Without a decorator, a parameter whose class has fields is the body of POST, PUT and PATCH. With `form: true`, the body may
 * also be sent as a form of a browser.
 *
 * @example
 * @Post('/login') login(@Body({ form: true }) input: Credentials) { return { name: input.name } }
 * @example
 * @Post('/') addMany(@Body({ type: [HeroInput], maxItems: 100 }) heroes: HeroInput[]) { return { added: heroes.length } }
 */
export const Body: InputDecorators<BodyOptions> = (options?: BodyOptions, ...others: readonly unknown[]) => {
  refuseMissingCall('@Body()', [options, ...others])
  return declare('body', options, undefined)
}

function declare(
  location: InputLocation,
  nameOrOptions: string | InputOptions | undefined,
  options: InputOptions | undefined,
) {
  refuseMissingCall(`@${decoratorOf(location)}()`, [nameOrOptions, options])
  const named = typeof nameOrOptions === 'string' ? { ...options, name: nameOrOptions } : (nameOrOptions ?? {})
  return (target: object, member: string | symbol | undefined, index: number) => {
    const input: InputDeclaration = { in: location, options: named }
    declareParameter(target, member, index, { kind: 'input', input })
  }
}

/** The methods with a body, to which a class with fields is read without a decorator. */
const TAKE_BODY: ReadonlySet<string> = new Set(['POST', 'PUT', 'PATCH'])

/** Decides which parameters of one route are inputs, and where they are read: that depends on the path's variables and on the method. */
export class RouteInputs {
  readonly #variables: readonly string[]
  readonly #method: string

  constructor(variables: readonly string[], method: string) {
    this.#variables = variables
    this.#method = method
  }

  /** A primitive is the path variable of the same name, else a query parameter; a class with fields is the body, or the query of a list. */
  infer(parameter: Parameter): Input | undefined {
    if (PRIMITIVES.has(parameter.type)) {
      const location = parameter.name !== undefined && this.#variables.includes(parameter.name) ? 'path' : 'query'
      return this.declared({ in: location, options: {} }, parameter)
    }
    if (!isDescribed(parameter.type)) return undefined
    if (isInQuery(parameter.type)) return this.declared({ in: 'query', options: {} }, parameter)
    return TAKE_BODY.has(this.#method) ? this.declared({ in: 'body', options: {} }, parameter) : undefined
  }

  /** @throws BootError for an input without a name or a type, and for a variable that the path does not have. */
  declared(input: unknown, parameter: Parameter | undefined): Input {
    const declaration = input as InputDeclaration // made by declare() and inputDependency() in this file; unknown to di
    const where = parameter ? describeParameter(parameter) : `input '${declaration.options.name ?? '?'}'`
    refuseUnknownOptions(
      `@${decoratorOf(declaration.in)}() of ${where}`,
      declaration.options,
      declaration.in === 'body' ? BODY_OPTIONS : INPUT_OPTIONS,
    )
    const property = toInputProperty(declaration, parameter, where)
    if (declaration.in === 'body' && this.#method === 'GET')
      throw new BootError(
        `${where}: a GET request has no body. Write @Query() instead of @Body(), or @Post() instead of @Get().`,
      )
    if (declaration.media)
      return { ...BODY, property, form: undefined, media: mediaOf(declaration.media, property, parameter, where) }
    refuseUnfitInputs(property.shape, where)
    if (declaration.in === 'body') {
      refuseLostOptional('body', property, parameter, where)
      return { ...BODY, property, form: formOf(declaration.options, property.shape, where), media: undefined }
    }
    refuseComplexParameters(property.shape, declaration.in, where)
    const group = declaration.in === 'path' ? undefined : groupOf(property.shape)
    if (group && declaration.in !== 'path') return { kind: 'group', in: declaration.in, ...group, where }
    if (declaration.in !== 'path') refuseLostOptional(declaration.in, property, parameter, where)
    const name = this.#nameOf(declaration, parameter, where)
    if (declaration.in === 'path') refuseOptionalVariable(declaration.options, parameter, where, name)
    return { kind: 'value', in: declaration.in, name, property, where }
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

function isInQuery(type: Constructor): boolean {
  const shape = shapeOf(type)
  return shape.kind === 'object' && shape.inQuery !== undefined
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

function refuseOptionalVariable(
  options: InputOptions,
  parameter: Parameter | undefined,
  where: string,
  name: string,
): void {
  const hasDefault = options.default !== undefined || parameter?.hasDefault === true
  if (options.optional !== true && !hasDefault) return
  throw new BootError(
    `${where}: the path always has its variable :${name}. Remove ${hasDefault ? 'the default' : 'optional: true'}, ` +
      `or write a second route without the variable.`,
  )
}

const BODY = { kind: 'body', in: 'body' } as const

function mediaOf(
  media: BodyMedia,
  { shape, optional }: Property,
  parameter: Parameter | undefined,
  where: string,
): PreparedMedia {
  if (optional || parameter?.optional)
    throw new BootError(
      `${where}: a body of ${media.decorator} is always present. Remove the '?' or the default; the fields of its class may be optional.`,
    )
  if (shape.kind !== 'object')
    throw new BootError(
      `${where}: write a class with @Field() or @File() properties as the type of ${media.decorator}.`,
    )
  refuseUnfitForms(shape, where)
  return media.prepare(shape, where)
}

function formOf({ form = false }: BodyOptions, shape: Shape, where: string): ObjectShape | undefined {
  flag(form, `${where}: form`)
  if (!form) return undefined
  refuseComplexParameters(shape, 'form', where)
  const group = groupOf(shape)
  if (group) return group.shape
  throw new BootError(`${where}: a form has fields. Write a class with @Field() properties, or remove form: true.`)
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
  { in: location, options, demanded }: InputDeclaration,
  parameter: Parameter | undefined,
  where: string,
): Property {
  const type = typeOf(location, options, parameter, where)
  const { shape, optional, ...rest } = toProperty(type, options, where)
  refuseOtherEmitted(shape, parameter?.type, 'received', () => where)
  // Only for the documentation: the function itself applies its default. A default of null means that there is none.
  const literal = parameter?.hasDefault ? (parameter.defaultValue ?? undefined) : undefined
  const documented = literal === undefined ? {} : { default: defaultOf(shape, literal, where) }
  if (documented.default !== undefined) refuseSecondDefault(rest.default, documented.default, where)
  const others = { ...documented, ...(demanded ? { demanded } : {}), ...rest }
  return { shape, optional: optional || parameter?.hasDefault === true, ...others }
}

interface DependencyOptions {
  readonly name: string
  readonly type: TypeOption
  /** Whether the provider itself refuses a request without it: the document requires it. */
  readonly demanded?: boolean
}

/** An input that a provider reads from the request, such as a paginator: declared in code instead of by a decorator. */
export function inputDependency(
  location: InputLocation,
  { demanded = false, ...options }: InputOptions & DependencyOptions,
) {
  const input: InputDeclaration = { in: location, options, demanded }
  return { kind: 'input', input } as const
}

/** The values that an input reads from the request, by their names there: each property of a group is one. */
export function sentValues(input: Exclude<Input, { kind: 'body' }>): readonly (readonly [string, Property])[] {
  if (input.kind === 'value') return [[input.name, input.property]]
  const properties = propertiesOf(input.shape, 'input')
  return input.in === 'header' ? properties.map(([name, property]) => [headerName(name), property]) : properties
}

/** The names of the headers, in lower case, or of the cookies that the inputs read. */
export function inputNames(inputs: readonly Input[], place: 'header' | 'cookie'): readonly string[] {
  return inputs.flatMap((input) => (input.in === place ? sentValues(input).map(([name]) => name) : []))
}
