import { BootError } from '../core/boot-error.js'
import { declaresMethod, MetadataKey } from './metadata.js'
import type { Dependency } from './provider.js'
import { type Constructor, type Injected, isToken, type Token } from './token.js'

/** What decorators said of the parameters of a method (on the prototype) or of a constructor (on the class), by index. */
const declarations = new MetadataKey<ReadonlyMap<number, Dependency>>('parameters')

/** Notes what a parameter's decorator says; the last decorator applied (the leftmost) wins. */
export function declareParameter(
  target: object,
  member: string | undefined,
  index: number,
  dependency: Dependency,
): void {
  const known = declarations.own(target, member) ?? new Map<number, Dependency>()
  declarations.write(target, new Map([...known, [index, dependency]]), member)
}

const NONE: ReadonlyMap<number, Dependency> = new Map()

/** What was declared of a constructor's parameters. */
export function declaredConstructorParameters(type: object): ReadonlyMap<number, Dependency> {
  return declarations.own(type) ?? NONE
}

/** What was declared of a method's parameters. A decorated method that overrides another says everything anew. */
export function declaredMethodParameters(prototype: object, member: string): ReadonlyMap<number, Dependency> {
  const own = declarations.own(prototype, member)
  if (own || declaresMethod(prototype, member)) return own ?? NONE
  const parent: unknown = Object.getPrototypeOf(prototype)
  return typeof parent === 'object' && parent !== null ? declaredMethodParameters(parent, member) : NONE
}

/** A parameter of a handler or of a constructor, as the plan sees it. */
export interface Parameter {
  readonly owner: Constructor
  /** The method's name; undefined for a constructor. */
  readonly member: string | undefined
  readonly index: number
  /** Undefined for a destructured parameter. */
  readonly name: string | undefined
  /** What the compiler emitted, or what `params: [...]` says. */
  readonly type: unknown
  /** False when neither the compiler nor `params` says anything: there is no metadata at all. */
  readonly typed: boolean
  readonly hasDefault: boolean
  readonly rest?: boolean
  /** Whether it is written with a `?`, where that is known. */
  readonly optional?: boolean
  /** The default, where it is a literal that can be read from the source. */
  readonly defaultValue?: unknown
}

/** `HeroController.list, parameter 1 'paginate'` */
export function describeParameter({
  owner,
  member,
  index,
  name,
}: Pick<Parameter, 'owner' | 'member' | 'index' | 'name'>): string {
  return `${owner.name}${member === undefined ? ' constructor' : `.${member}`}, parameter ${index + 1}${name ? ` '${name}'` : ''}`
}

// any: the parameter of a private method is not visible in keyof T, so that it cannot be checked.
// oxlint-disable typescript/no-explicit-any
type ParameterOfMethod<T, K, I extends number> = K extends keyof T
  ? T[K] extends (...args: infer P) => any
    ? P[I]
    : never
  : any
type ParameterOfConstructor<T, I extends number> = T extends abstract new (...args: infer P) => any ? P[I] : never
// oxlint-enable typescript/no-explicit-any

/** `unknown` when a `V` may be passed where `P` is expected, else a sentence for the compiler to show. */
export type Fits<V, P> = [V] extends [P]
  ? unknown
  : {
      readonly error: 'the token stands for another type than the parameter has'
      readonly injected: V
      readonly parameter: P
    }

/** A parameter decorator that the compiler checks against the parameter's type. */
export interface ParameterDecoratorOf<V> {
  <T, K extends string | symbol, I extends number>(
    target: T,
    member: K,
    index: I & Fits<V, ParameterOfMethod<T, K, I>>,
  ): void
  <T, I extends number>(target: T, member: undefined, index: I & Fits<V, ParameterOfConstructor<T, I>>): void
}

/**
 * Gives a parameter the value of a token, whatever its type says. The compiler rejects a token of another type.
 *
 * @example
 * list(@Inject(bigPages) paginate: PaginateType<HeroModel>) {}
 * constructor(@Inject(mailer) private readonly mail: Mailer) {}
 */
export function Inject<K extends Token>(token: K): ParameterDecoratorOf<Injected<K>> {
  return (target: unknown, member: string | symbol | undefined, index: number) => {
    if (!isToken(token)) throw notAToken(token, target as object, member, index)
    declareParameter(target as object, member as string | undefined, index, { kind: 'token', token })
  }
}

function notAToken(token: unknown, target: object, member: string | symbol | undefined, index: number): BootError {
  const owner = (member === undefined ? target : target.constructor) as Constructor
  const where = describeParameter({ owner, member: member && String(member), index, name: undefined })
  return new BootError(
    `${where}: @Inject(${String(token)}) names no token. It takes a class or a token('name'). ` +
      `A class that is undefined here was not loaded yet: two files import each other; move what both need into a third file.`,
  )
}
