import type { ExternalDocumentationObject } from 'openapi3-ts/oas31'
import { BootError } from '../../core/boot-error.js'
import { NOT_LOADED, refuseMissingCall, refuseUnknownOptions } from '../../core/options.js'
import { howToEmitTypes } from '../../di/emitted-types.js'
import { MetadataKey } from '../../di/metadata.js'
import { type Constructor, isConstructor, type Token } from '../../di/token.js'
import type { TypeName } from '../../schema/declare/value-options.js'
import type { DataOf, Described, Literal } from '../../schema/shape/shape.js'
import { isLiteral } from '../../schema/shape/shape-of.js'
import { isStandardSchema, type StandardSchema } from '../../schema/shape/standard-schema.js'
import type { Around } from './around.js'
import type { CheckedRouteDecorator, ParameterTokens, RouteDecorator } from './route-decorators.js'

/** Specification extensions of OpenAPI. */
export type Extensions = Readonly<Record<`x-${string}`, unknown>>

/** The options of a route, `@Get(path, response, options)`: its status, its documentation, and what wraps its handler. */
export interface RouteOptions {
  /**
   * The status of a success. Default: 204 when the handler returns nothing, and for a DELETE that declares no response; else 201 for POST and 200
   * for other methods.
   */
  readonly status?: number
  readonly summary?: string
  readonly description?: string
  readonly tags?: readonly string[]
  readonly deprecated?: boolean
  readonly operationId?: string
  /** A link to more documentation. */
  readonly externalDocs?: ExternalDocumentationObject
  /** Specification extensions of the operation: `{ 'x-internal': true }`. */
  readonly extensions?: Extensions
  /** Error statuses that the handler throws, for the documentation: `{ 404: 'Hero not found' }`. */
  readonly errors?: Readonly<Record<number, string>>
  /** Other successes, which the handler returns as a `Reply`: their type, or only a description. */
  readonly responses?: Responses
  /** The media type of a success, or a range such as `image/*`: of what `file(...)` sends, or of JSON. Default `application/json`. */
  readonly produces?: string
  /** The largest body of its requests, in bytes. Default: the `bodyLimit` of the app. A larger one is a 413. */
  readonly bodyLimit?: number
  /**
   * Whether clients of this GET are told when its response may have changed: with `Accept: text/event-stream` the same URL sends `event: stale`. Requires
   * `import 'sequitur/feeds'`. Default false.
   */
  readonly live?: boolean
  /** As those of the controller, and after them. */
  readonly requires?: readonly Token[]
  /** Wraps the call of the handler, within what wraps those of its controller. */
  readonly around?: readonly Around[]
}

const isText = (value: unknown) => typeof value === 'string'
const isNumber = (value: unknown) => typeof value === 'number'
const hasKeys = (pattern: RegExp) => (value: unknown) => Object.keys(Object(value)).every((key) => pattern.test(key))

/** Whether a value can be that of an option: `{ tags: ['Heroes'] }` has options, `{ tags: [String] }` declares a response. */
const ROUTE_OPTIONS: Readonly<Record<keyof AnyOptions, (value: unknown) => boolean>> = {
  status: isNumber,
  summary: isText,
  description: isText,
  tags: (value) => Array.isArray(value) && value.every(isText),
  deprecated: (value) => typeof value === 'boolean',
  operationId: isText,
  errors: hasKeys(/^\d+$/),
  responses: hasKeys(/^\d+$/),
  produces: isText,
  bodyLimit: isNumber,
  live: (value) => typeof value === 'boolean',
  extensions: hasKeys(/^x-/),
  externalDocs: (value) => isText(Object(value).url),
  params: Array.isArray,
  requires: Array.isArray,
  around: Array.isArray,
}

/** `{ 202: Job, 303: 'See the hero' }` */
export type Responses = Readonly<Record<number, Declaration | string>>

export interface RouteDeclaration {
  readonly method: string
  readonly path: string
  readonly member: string
  /** The declared response, such as `Page.of(X)`, a class, or `[X]`; undefined without one. */
  readonly response: unknown
  readonly params: readonly unknown[] | undefined
  readonly options: RouteOptions
}

const routesKey = new MetadataKey<readonly RouteDeclaration[]>()

/** The routes of a controller and of its ancestors; a decorated method replaces those of the one that it overrides. */
export function routesOf(type: Constructor): readonly RouteDeclaration[] {
  const parent: unknown = Object.getPrototypeOf(type)
  const own = routesKey.own(type) ?? []
  const inherited = isConstructor(parent) ? routesOf(parent) : []
  return [...inherited.filter((route) => !own.some(({ member }) => member === route.member)), ...own]
}

/** Gives a class the routes of its ancestors, whose requests require more now; not those of the members in `others`. */
export function requireInRoutes(type: Constructor, requires: readonly Token[], others: readonly string[]): void {
  const declarations = routesOf(type).map((route) => {
    if (others.includes(route.member)) return route
    const { options } = route
    return { ...route, options: { ...options, requires: [...requires, ...(options.requires ?? [])] } }
  })
  routesKey.write(type, declarations)
}

/** A declaration of a response: `Page.of(Hero)`, a class with fields, a model, `[Hero]`, `String`, `{ hero: Hero }`. */
export type Declaration =
  | Described<unknown>
  | StandardSchema
  | Constructor
  | readonly [Constructor | Described<unknown> | StandardSchema | Literal]
  | TypeName
  | Literal

type Returned<S> = S extends TypeName ? unknown : DataOf<S>

// The values of other statuses can be returned only in a Reply: reply(undefined, { status }), where only a description is declared.
type Others<W> = W extends Responses
  ? { [K in keyof W]: W[K] extends string ? undefined : Returned<W[K]> }[keyof W]
  : never

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
  /** A route without a declared response: it may return any JSON, but no models. */
  (path?: string, options?: WithoutParams): RouteDecorator<unknown>
  <const K extends ParameterTokens>(path: string, options: WithParams<K>): CheckedRouteDecorator<unknown, K>
  /** The compiler checks what the handler returns against the declared response; only declared properties are sent. */
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

/** Handles GET, and HEAD without the body. */
export const Get: RouteDecorators = routeDecorator('GET')
/** Handles POST; the status is 201, unless `status` is set. */
export const Post: RouteDecorators = routeDecorator('POST')
/** Handles PUT. */
export const Put: RouteDecorators = routeDecorator('PUT')
/** Handles PATCH. */
export const Patch: RouteDecorators = routeDecorator('PATCH')
/** Handles DELETE; without a declared response the status is 204, and nothing is sent. */
export const Delete: RouteDecorators = routeDecorator('DELETE')

type AnyOptions = RouteOptions & { readonly params?: readonly unknown[] }

function routeDecorator(method: string): RouteDecorators {
  const name = method[0] + method.slice(1).toLowerCase()
  // Implements the overloads above: the second argument is the response or the options.
  return ((path: string = '/', ...rest: unknown[]) => {
    refuseMissingCall(`@${name}('/')`, [path, ...rest])
    // The overloads allow nothing but options as the third argument.
    const [response, options] =
      rest.length > 0 && isOptions(rest[0]) ? [undefined, rest[0]] : [rest[0], rest[1] as AnyOptions | undefined]
    return (target: object, member: unknown) => {
      refuseStandardDecorator(name, member)
      refuseStaticMethod(name, target, member)
      const where = `@${name}() on ${target.constructor.name}.${String(member)}`
      requireMethod(where, target, String(member))
      if (rest.length > 1 && rest[0] === undefined)
        throw new BootError(`${where}: its response is undefined. ${NOT_LOADED}`)
      if (options !== undefined) refuseUnknownOptions(where, options, ROUTE_OPTIONS)
      const { params, ...others } = options ?? {}
      const declaration: RouteDeclaration = { method, path, member: String(member), response, params, options: others }
      const routes = routesKey.own(target.constructor) ?? []
      refuseSecondRoute(where, routes, declaration)
      routesKey.write(target.constructor, [...routes, declaration])
    }
  }) as unknown as RouteDecorators // what they return for a handler that differs exists only for the compiler
}

// It is called on an instance of the controller.
function refuseStaticMethod(name: string, target: object, member: unknown): void {
  if (typeof target !== 'function') return
  throw new BootError(
    `@${name}() on ${target.name}.${String(member)}: a static method is not a handler. Remove 'static'.`,
  )
}

function requireMethod(where: string, target: object, member: string): void {
  const descriptor = Object.getOwnPropertyDescriptor(target, member)
  if (typeof descriptor?.value === 'function') return
  const what = descriptor ? 'an accessor' : 'a property'
  throw new BootError(`${where}: ${what} is not a handler. Write a method: ${member}() { ... }.`)
}

// Where inputs are read, and how the route is documented, depends on its method and path.
function refuseSecondRoute(where: string, routes: readonly RouteDeclaration[], { member }: RouteDeclaration): void {
  const first = routes.find((route) => route.member === member)
  if (!first) return
  throw new BootError(
    `${where}: the method has a route already, ${first.method} ${first.path}. Write a method for each route; one may call the other.`,
  )
}

function isOptions(value: unknown): value is AnyOptions {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    !('shape' in value) &&
    !isStandardSchema(value) &&
    (!isLiteral(value) || Object.entries(value).every(([name, option]) => canBeOption(name, option)))
  )
}

function canBeOption(name: string, value: unknown): boolean {
  return Object.hasOwn(ROUTE_OPTIONS, name) && ROUTE_OPTIONS[name as keyof AnyOptions](value)
}

function refuseStandardDecorator(name: string, member: unknown): void {
  if (typeof member !== 'object') return
  throw new BootError(
    `@${name}() was compiled as a TC39 decorator. Set "experimentalDecorators": true in the tsconfig.json whose "include" covers this file ` +
      `(tsx reads the one of the current directory), or run with --import sequitur/register. ${howToEmitTypes() ?? ''}`.trimEnd(),
  )
}
