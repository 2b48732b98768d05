import type { ExternalDocumentationObject } from 'openapi3-ts/oas31'
import { BootError } from '../../core/boot-error.js'
import { MetadataKey } from '../../di/metadata.js'
import { type Lifetime, provideItself, refuseOtherThanLifetime } from '../../di/provider.js'
import { NOT_LOADED, type OptionNames, refuseUnknownOptions } from '../../core/options.js'
import { type Constructor, type Injected, type Token, tokenName } from '../../di/token.js'
import type { DataOf, Described } from '../../schema/shape/shape.js'
import { isStandardSchema, type StandardSchema } from '../../schema/shape/standard-schema.js'
import type { TypeName } from '../../schema/declare/value-options.js'
import type { Reply } from '../output/reply.js'

export interface ControllerOptions {
  /** The group in the documentation; by default the class's name without `Controller`. */
  readonly tags?: readonly string[]
  /** By default as long as what its constructor asks for allows: the app's, or a request's. */
  readonly lifetime?: Lifetime
}

const CONTROLLER_OPTIONS: OptionNames<ControllerOptions> = { tags: true, lifetime: true }

export interface ControllerDeclaration {
  readonly path: string
  readonly tags: readonly string[]
}

/** Parts of the document that OpenAPI leaves to others. */
export type Extensions = Readonly<Record<`x-${string}`, unknown>>

export interface RouteOptions {
  /** The status of a success; by default 204 when the handler returns nothing, else 201 for POST and 200. */
  readonly status?: number
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly deprecated?: boolean
  readonly operationId?: string
  /** Where more is said of it. */
  readonly externalDocs?: ExternalDocumentationObject
  /** Other parts of the operation in the document: `{ 'x-internal': true }`. */
  readonly extensions?: Extensions
  /** Other statuses that the handler answers with, for the documentation: `{ 404: 'Hero not found' }`. */
  readonly errors?: Readonly<Record<number, string>>
  /** Other successes that the handler answers with by a `Reply`: what they send, or only a description. */
  readonly responses?: Responses
  /** The media type of a success, or a range such as `image/*`: of what `file(...)` sends, or JSON by another name. By default JSON. */
  readonly produces?: string
}

const ROUTE_OPTIONS: OptionNames<AnyOptions> = {
  status: true,
  summary: true,
  description: true,
  tags: true,
  deprecated: true,
  operationId: true,
  errors: true,
  responses: true,
  produces: true,
  extensions: true,
  externalDocs: true,
  params: true,
}

/** `{ 202: Job, 303: 'See the hero' }` */
export type Responses = Readonly<Record<number, Declaration | string>>

export interface RouteDeclaration {
  readonly method: string
  readonly path: string
  readonly member: string
  /** What `Page.of(X)`, a class, or `[X]` says the handler returns; undefined when nothing was declared. */
  readonly response: unknown
  readonly params: readonly unknown[] | undefined
  readonly options: RouteOptions
}

const controllerKey = new MetadataKey<ControllerDeclaration>('controller')
const routesKey = new MetadataKey<readonly RouteDeclaration[]>('routes')

/**
 * A class whose methods answer requests. Its constructor, like each handler, is given what its parameters ask for.
 *
 * @example
 * @Controller('/heros')
 * class HeroController {
 *   @Get('/:hero_id', Item.of(HeroModel))
 *   async get(hero_id: number, session: Session) { ... }
 * }
 */
export function Controller(path = '/', options: ControllerOptions = {}): ClassDecorator {
  return (target) => {
    const type = target as unknown as Constructor
    refuseUnknownOptions(`@Controller() on ${type.name}`, options, CONTROLLER_OPTIONS)
    refuseOtherThanLifetime(`@Controller() on ${type.name}`, options.lifetime)
    controllerKey.write(type, { path, tags: options.tags ?? [type.name.replace(/Controller$/, '') || type.name] })
    if (options.lifetime) provideItself(type, { kind: 'class', type, lifetime: options.lifetime })
  }
}

/** @throws BootError when the class is no controller. */
export function controllerOf(type: Constructor): ControllerDeclaration {
  const declaration = controllerKey.own(type)
  if (!declaration)
    throw new BootError(
      `createApp({ controllers }): ${tokenName(type)} is not a controller. Put @Controller('/path') on the class.`,
    )
  return declaration
}

/** The routes of a controller and of its ancestors; an overridden method keeps only its own. */
export function routesOf(type: Constructor): readonly RouteDeclaration[] {
  const parent: unknown = Object.getPrototypeOf(type)
  const own = routesKey.own(type) ?? []
  const inherited = typeof parent === 'function' && parent !== Function.prototype ? routesOf(parent as Constructor) : []
  return [...inherited.filter((route) => !own.some(({ member }) => member === route.member)), ...own]
}

/** What can be declared as a response: `Page.of(Hero)`, a class with fields, a model, `[Hero]`, `String`. */
export type Declaration =
  | Described<unknown>
  | StandardSchema
  | Constructor
  | readonly [Constructor | Described<unknown> | StandardSchema]
  | TypeName

type Returned<S> = S extends TypeName ? unknown : DataOf<S>

// What other statuses send can only come in a Reply.
type Others<W> = W extends Responses ? { [K in keyof W]: W[K] extends string ? never : Returned<W[K]> }[keyof W] : never

/** A token for each parameter: a class, a named token, or String, Number, Boolean. */
export type ParameterTokens = readonly (
  | Token
  | NumberConstructor
  | StringConstructor
  | BooleanConstructor
  | BigIntConstructor
)[]

type Values<K extends ParameterTokens> = { -readonly [I in keyof K]: Injected<K[I]> }

type Result<R, O> = R | Reply<R | O>

// any: a handler takes whatever its parameters say; what it returns is what this decorator checks.
// oxlint-disable typescript/no-explicit-any
export type RouteDecorator<R, O = never> = <F extends (...args: any[]) => Result<R, O> | Promise<Result<R, O>>>(
  target: object,
  member: string,
  descriptor: TypedPropertyDescriptor<F>,
) => void

type SameLength<
  Tokens extends readonly unknown[],
  F extends (...args: any[]) => unknown,
> = Parameters<F>['length'] extends Tokens['length']
  ? unknown
  : Tokens['length'] extends Parameters<F>['length']
    ? unknown
    : {
        readonly error: 'params and the parameters differ in number'
        readonly params: Tokens['length']
        readonly parameters: Parameters<F>['length']
      }

/** Checks a handler's parameters against `params: [...]`, one by one, and its result against the declared response. */
export type CheckedRouteDecorator<R, K extends ParameterTokens, O = never> = <
  F extends (...args: any[]) => Result<R, O> | Promise<Result<R, O>>,
>(
  target: object,
  member: string,
  descriptor: TypedPropertyDescriptor<F & ((...args: Values<K>) => any) & SameLength<Values<K>, F>>,
) => void
// oxlint-enable typescript/no-explicit-any

interface WithParams<K extends ParameterTokens, W extends Responses = Responses> extends RouteOptions {
  /** The types of the handler's parameters, for compilers that emit none; checked against the parameters. */
  readonly params: K
  readonly responses?: W
}

interface WithoutParams<W extends Responses = Responses> extends RouteOptions {
  readonly params?: never
  readonly responses?: W
}

interface RouteDecorators {
  /** A route whose response is not declared: any JSON, and no models. */
  (path?: string, options?: WithoutParams): RouteDecorator<unknown>
  <const K extends ParameterTokens>(path: string, options: WithParams<K>): CheckedRouteDecorator<unknown, K>
  /** The compiler checks what the handler returns against the declared response; only what that declares is sent. */
  <const S extends Declaration, const W extends Responses = {}>(
    path: string,
    response: S,
    options?: WithoutParams<W>,
  ): RouteDecorator<Returned<S>, Others<W>>
  <const S extends Declaration, const K extends ParameterTokens, const W extends Responses = {}>(
    path: string,
    response: S,
    options: WithParams<K, W>,
  ): CheckedRouteDecorator<Returned<S>, K, Others<W>>
}

/** Answers GET, and HEAD without the body. */
export const Get: RouteDecorators = routeDecorator('GET')
/** Answers POST; 201 unless `status` says otherwise. */
export const Post: RouteDecorators = routeDecorator('POST')
export const Put: RouteDecorators = routeDecorator('PUT')
export const Patch: RouteDecorators = routeDecorator('PATCH')
export const Delete: RouteDecorators = routeDecorator('DELETE')

type AnyOptions = RouteOptions & { readonly params?: readonly unknown[] }

function routeDecorator(method: string): RouteDecorators {
  const name = method[0] + method.slice(1).toLowerCase()
  // The overloads above are what the compiler holds callers to; here the arguments are told apart.
  return ((path: string = '/', ...rest: unknown[]) => {
    const [response, options] =
      rest.length > 0 && isOptions(rest[0]) ? [undefined, rest[0]] : [rest[0], rest[1] as AnyOptions | undefined]
    return (target: object, member: unknown) => {
      refuseStandardDecorator(name, member)
      const where = `@${name}() on ${target.constructor.name}.${String(member)}`
      if (rest.length > 1 && rest[0] === undefined)
        throw new BootError(`${where}: its response is undefined. ${NOT_LOADED}`)
      if (options !== undefined) refuseUnknownOptions(where, options, ROUTE_OPTIONS)
      const { params, ...others } = options ?? {}
      const declaration: RouteDeclaration = { method, path, member: String(member), response, params, options: others }
      routesKey.write(target.constructor, [...(routesKey.own(target.constructor) ?? []), declaration])
    }
  }) as RouteDecorators
}

function isOptions(value: unknown): value is AnyOptions {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !('shape' in value) &&
    !isStandardSchema(value)
  )
}

function refuseStandardDecorator(name: string, member: unknown): void {
  if (typeof member !== 'object') return
  throw new BootError(
    `@${name}() was compiled as a TC39 decorator. Set "experimentalDecorators": true in the tsconfig.json whose "include" covers this file ` +
      `(tsx reads the one of the current directory), or run with --import sequitur/register.`,
  )
}
