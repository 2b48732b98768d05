import { BootError } from '../core/boot-error.js'
import { refuseMissingCall } from '../core/options.js'
import { declaresMethod, MetadataKey } from './metadata.js'
import type { Dependency } from './provider.js'
import { type Constructor, type Injected, isToken, type Token } from './token.js'

/** The declarations of decorators for parameters, by index; stored on the prototype for a method, on the class for its constructor. */
const declarations = new MetadataKey<ReadonlyMap<number, Dependency>>()

/** Records what a parameter's decorator declares. @throws BootError for a second decorator, because only one can decide where the value is from. */
export function declareParameter(
  target: object,
  member: string | symbol | undefined,
  index: number,
  dependency: Dependency,
): void {
  const known = declarations.own(target, member) ?? new Map<number, Dependency>()
  if (known.has(index))
    throw new BootError(
      `${placeOf(target, member, index)} has two decorators that say where its value is from. Keep one of @Path, @Query, @Header, @Body and @Inject.`,
    )
  declarations.write(target, new Map([...known, [index, dependency]]), member)
}

const NONE: ReadonlyMap<number, Dependency> = new Map()

/** The declarations of decorators for the parameters of a constructor, by index. */
export function declaredConstructorParameters(type: object): ReadonlyMap<number, Dependency> {
  return declarations.own(type) ?? NONE
}

/** The declarations of decorators for the parameters of a method, by index. A decorated method inherits nothing from the one that it overrides. */
export function declaredMethodParameters(prototype: object, member: string): ReadonlyMap<number, Dependency> {
  const own = declarations.own(prototype, member)
  if (own || declaresMethod(prototype, member)) return own ?? NONE
  const parent: unknown = Object.getPrototypeOf(prototype)
  return typeof parent === 'object' && parent !== null ? declaredMethodParameters(parent, member) : NONE
}

/** A parameter of a handler or of a constructor, with all that is known of it at run time. */
export interface Parameter {
  readonly owner: Constructor
  /** The method's name; undefined for a constructor. */
  readonly member: string | undefined
  readonly index: number
  /** Undefined for a destructured parameter. */
  readonly name: string | undefined
  /** The type that the compiler emitted, or the one in `params: [...]`. */
  readonly type: unknown
  /** False when there is no type at all: the compiler emits none, and there is no `params`. */
  readonly typed: boolean
  readonly hasDefault: boolean
  readonly rest?: boolean
  /** Whether it is written with a `?`; undefined when that is not known. */
  readonly optional?: boolean
  /** The default, if it is a literal. */
  readonly defaultValue?: unknown
}

/** `HeroController.list, parameter 1 'paginate'` */
export function describeParameter({
  owner,
  member,
  index,
  name,
}: Pick<Parameter, 'member' | 'index' | 'name'> & { readonly owner: { readonly name: string } }): string {
  return `${owner.name}${member === undefined ? ' constructor' : `.${member}`}, parameter ${index + 1}${name ? ` '${name}'` : ''}`
}

/** The type of a parameter of a method, or of a constructor, whose member is undefined. */
// any: the parameter of a private method is not visible in keyof T, so that it cannot be checked.
// oxlint-disable typescript/no-explicit-any
export type ParameterOf<T, K, I extends number> = K extends undefined
  ? T extends abstract new (...args: infer P) => any
    ? P[I]
    : any
  : K extends keyof T
    ? T[K] extends (...args: infer P) => any
      ? P[I]
      : never
    : any
// oxlint-enable typescript/no-explicit-any

/** `unknown` when a `V` may be passed where `P` is expected, else a type whose error property the compiler displays. */
export type Fits<V, P> = [V] extends [P]
  ? unknown
  : {
      readonly error: 'the token provides another type than the parameter has'
      readonly injected: V
      readonly parameter: P
    }

/** A parameter decorator that the compiler checks against the parameter's type. */
export type ParameterDecoratorOf<V> = <T extends object, K extends string | symbol | undefined, I extends number>(
  target: T,
  member: K,
  index: I & Fits<V, ParameterOf<T, K, I>>,
) => void

/**
 * Injects the value of a token into a parameter. The compiler rejects a token whose type does not fit the parameter.
 *
 * @throws BootError when `token` is neither a class nor a `token('name')`.
 * @example
 * const mailer = token<Mailer>('mailer')
 * class Signup { constructor(@Inject(mailer) private readonly mail: Mailer) {} }
 */
export function Inject<K extends Token>(token: K): ParameterDecoratorOf<Injected<K>> {
  // A class is a token, but not with the index of a parameter after it.
  if (arguments.length > 1) refuseMissingCall('@Inject(token)', arguments)
  return (target: object, member: string | symbol | undefined, index: number) => {
    if (!isToken(token)) throw notAToken(token, target, member, index)
    declareParameter(target, member, index, { kind: 'token', token })
  }
}

function notAToken(token: unknown, target: object, member: string | symbol | undefined, index: number): BootError {
  return new BootError(
    `${placeOf(target, member, index)}: @Inject(${String(token)}) is not a token. Write a class or a token('name'). ` +
      `A class that is undefined here is not loaded yet because two files import each other: move what both need into a third file.`,
  )
}

function placeOf(target: object, member: string | symbol | undefined, index: number): string {
  const owner = typeof target === 'function' ? target : target.constructor
  return describeParameter({ owner, member: member && String(member), index, name: undefined })
}
