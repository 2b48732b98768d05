import { howToEmitTypes } from '../../di/emitted-types.js'
import type { ExternalDocumentationObject } from 'openapi3-ts/oas31'
import { BootError } from '../../core/boot-error.js'
import { MetadataKey } from '../../di/metadata.js'
import { type Lifetime, provideItself, refuseOtherThanLifetime } from '../../di/provider.js'
import {
  NOT_LOADED,
  type OptionNames,
  refuseMissingCall,
  refuseOtherThanList,
  refuseUnknownOptions,
  shown,
} from '../../core/options.js'
import { type Constructor, isConstructor, type Token, tokenName } from '../../di/token.js'
import type { DataOf, Described, Literal } from '../../schema/shape/shape.js'
import { isLiteral } from '../../schema/shape/shape-of.js'
import { isStandardSchema, type StandardSchema } from '../../schema/shape/standard-schema.js'
import type { TypeName } from '../../schema/declare/value-options.js'
import type { Request } from '../request.js'
import { refuseOtherThanTokens } from './guard.js'
import { compileMiddleware, type Middleware, type MiddlewareStep } from './middleware.js'
import type { CheckedRouteDecorator, ParameterTokens, RouteDecorator } from './route-decorators.js'

/** The options of `@Controller(path, options)`. */
export interface ControllerOptions {
  /** The group in the documentation; by default the class's name without `Controller`. */
  readonly tags?: readonly string[]
  /** Default: `'application'`, unless its constructor injects a value of a request. */
  readonly lifetime?: Lifetime
  /** Connect-style middleware for the routes of this controller, run in order after that of the app, and before their inputs are read. */
  readonly middleware?: readonly Middleware[]
  /** Created before the inputs of each request are validated, although no parameter takes them: classes and guards that refuse requests. */
  readonly requires?: readonly Token[]
  /** Wraps the calls of all handlers of this controller, the first one outermost; see {@link Around}. */
  readonly around?: readonly Around[]
}

/**
 * Wraps the call of a handler, in its transaction: it calls `next`, and returns what becomes the response instead of the handler's value. It runs again
 * when the handler is run again.
 *
 * @example
 * const timed: Around = async (next, request) => {
 *   const start = performance.now()
 *   try { return await next() } finally { console.log(request.path, performance.now() - start) }
 * }
 */
export type Around = (next: () => Promise<unknown>, request: Request) => unknown

const CONTROLLER_OPTIONS: OptionNames<ControllerOptions> = {
  tags: true,
  lifetime: true,
  middleware: true,
  requires: true,
  around: true,
}

export interface ControllerDeclaration {
  readonly path: string
  readonly tags: readonly string[]
  readonly middleware: readonly MiddlewareStep[]
  readonly requires: readonly Token[]
  readonly around: readonly Around[]
}

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
  /** As those of the controller, and after them. */
  readonly requires?: readonly Token[]
  /** Wraps the call of the handler, within what wraps those of its controller. */
  readonly around?: readonly Around[]
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
  requires: true,
  around: true,
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

const controllerKey = new MetadataKey<ControllerDeclaration>()
const routesKey = new MetadataKey<readonly RouteDeclaration[]>()

/**
 * A class whose methods handle requests. The parameters of its constructor, and of each handler, are injected.
 *
 * @param path the prefix of all routes in it. Default `/`.
 * @throws BootError for an unknown option or lifetime.
 * @example
 * @Controller('/heros')
 * class HeroController {
 *   @Get('/:hero_id', Item.of(HeroModel))
 *   async get(hero_id: number, session: Session) { return { data: (await session.get(HeroModel, hero_id)) ?? notFound() } }
 * }
 */
export function Controller(path = '/', options: ControllerOptions = {}): ClassDecorator {
  refuseMissingCall(`@Controller('/path')`, arguments)
  return (target) => {
    const type = target as unknown as Constructor // a class decorator is applied to classes; its type is Function
    refuseUnknownOptions(`@Controller() on ${type.name}`, options, CONTROLLER_OPTIONS)
    refuseOtherThanList(options.tags, `@Controller() on ${type.name}: tags`, `'Heroes'`)
    refuseOtherThanLifetime(`@Controller() on ${type.name}`, options.lifetime)
    const { tags = [type.name.replace(/Controller$/, '') || type.name], around = [], requires = [] } = options
    refuseOtherThanAround(`@Controller() on ${type.name}: around`, around)
    refuseOtherThanRequirements(`@Controller() on ${type.name}: requires`, requires)
    controllerKey.write(type, { path, tags, requires, around, middleware: middlewareOf(type, options) })
    if (options.lifetime) provideItself(type, { kind: 'class', type, lifetime: options.lifetime })
  }
}

function middlewareOf({ name }: Constructor, { middleware = [] }: ControllerOptions): readonly MiddlewareStep[] {
  const where = `@Controller() on ${name}: middleware`
  refuseOtherThanList(middleware, where, 'guard')
  return middleware.map((entry, index) => {
    if (typeof entry === 'object')
      throw new BootError(
        `${where}[${index}] is an object. Write the function itself: it runs for the routes of this controller.`,
      )
    return compileMiddleware(entry, `${where}[${index}]`)
  })
}

/** @throws BootError for something else than a list of tokens. */
export function refuseOtherThanRequirements(where: string, requires: readonly unknown[]): void {
  refuseOtherThanList(requires, where, 'Admin')
  refuseOtherThanTokens(where, requires)
}

/** @throws BootError for a list that has something else than functions. */
export function refuseOtherThanAround(where: string, around: readonly unknown[]): void {
  refuseOtherThanList(around, where, 'timed')
  const index = around.findIndex((one) => typeof one !== 'function')
  if (index < 0) return
  throw new BootError(`${where}[${index}] is ${shown(around[index])}. Write a function: async (next) => next().`)
}

/**
 * The declaration of a controller. Its routes may be those of the controllers that it extends: what refuses their requests applies to it, too.
 *
 * @throws BootError when the class is no controller.
 */
export function controllerOf(type: Constructor): ControllerDeclaration {
  const declaration = controllerKey.own(type)
  if (!declaration)
    throw new BootError(
      `createApp({ controllers }): ${tokenName(type)} is not a controller. Put @Controller('/path') on the class.`,
    )
  return declarationsAbove(type).reduceRight(
    (below, above) => ({
      ...below,
      requires: joined(above.requires, below.requires),
      around: joined(above.around, below.around),
      middleware: joined(above.middleware, below.middleware, ({ use }) => use),
    }),
    declaration,
  )
}

/** Those of the classes that a class extends, the topmost first. */
function declarationsAbove(type: Constructor): readonly ControllerDeclaration[] {
  const parent: unknown = Object.getPrototypeOf(type)
  if (!isConstructor(parent)) return []
  const declaration = controllerKey.own(parent)
  return declaration ? [...declarationsAbove(parent), declaration] : declarationsAbove(parent)
}

/** What a subclass repeats is there once. */
function joined<T>(above: readonly T[], below: readonly T[], keyOf: (value: T) => unknown = (value) => value): T[] {
  const known = new Set(above.map(keyOf))
  return [...above, ...below.filter((value) => !known.has(keyOf(value)))]
}

/** The routes of a controller and of its ancestors; a decorated method replaces those of the one that it overrides. */
export function routesOf(type: Constructor): readonly RouteDeclaration[] {
  const parent: unknown = Object.getPrototypeOf(type)
  const own = routesKey.own(type) ?? []
  const inherited = isConstructor(parent) ? routesOf(parent) : []
  return [...inherited.filter((route) => !own.some(({ member }) => member === route.member)), ...own]
}

/** What can be declared as a response: `Page.of(Hero)`, a class with fields, a model, `[Hero]`, `String`, `{ hero: Hero }`. */
export type Declaration =
  | Described<unknown>
  | StandardSchema
  | Constructor
  | readonly [Constructor | Described<unknown> | StandardSchema | Literal]
  | TypeName
  | Literal

type Returned<S> = S extends TypeName ? unknown : DataOf<S>

// The values of other statuses can be returned only in a Reply.
type Others<W> = W extends Responses ? { [K in keyof W]: W[K] extends string ? never : Returned<W[K]> }[keyof W] : never

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
      refuseOtherThanMethod(where, target, String(member))
      if (rest.length > 1 && rest[0] === undefined)
        throw new BootError(`${where}: its response is undefined. ${NOT_LOADED}`)
      if (options !== undefined) refuseUnknownOptions(where, options, ROUTE_OPTIONS)
      const { params, ...others } = options ?? {}
      const declaration: RouteDeclaration = { method, path, member: String(member), response, params, options: others }
      const routes = routesKey.own(target.constructor) ?? []
      refuseSecondRoute(where, routes, declaration)
      routesKey.write(target.constructor, [...routes, declaration])
    }
  }) as RouteDecorators // the overloads check what this signature does not
}

// It is called on an instance of the controller.
function refuseStaticMethod(name: string, target: object, member: unknown): void {
  if (typeof target !== 'function') return
  throw new BootError(`@${name}() on ${target.name}.${String(member)}: a static method is no handler. Remove 'static'.`)
}

function refuseOtherThanMethod(where: string, target: object, member: string): void {
  const descriptor = Object.getOwnPropertyDescriptor(target, member)
  if (typeof descriptor?.value === 'function') return
  const what = descriptor ? 'an accessor' : 'a property'
  throw new BootError(`${where}: ${what} is no handler. Write a method: ${member}() { ... }.`)
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
    (Object.keys(value).every((name) => name in ROUTE_OPTIONS) || !isLiteral(value))
  )
}

function refuseStandardDecorator(name: string, member: unknown): void {
  if (typeof member !== 'object') return
  throw new BootError(
    `@${name}() was compiled as a TC39 decorator. Set "experimentalDecorators": true in the tsconfig.json whose "include" covers this file ` +
      `(tsx reads the one of the current directory), or run with --import sequitur/register. ${howToEmitTypes() ?? ''}`.trimEnd(),
  )
}
