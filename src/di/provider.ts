import { BootError } from '../core/boot-error.js'
import { MetadataKey } from './metadata.js'
import { checkOptions, either, list, type OptionChecks, unchecked } from '../core/option-checks.js'
import { NOT_LOADED, refuseMissingCall, shown } from '../core/options.js'
import { type Constructor, type Injected, type Token, isConstructor, isToken, NamedToken, tokenName } from './token.js'

/** How long a value lives: as long as the app, or for one request. */
export type Lifetime = 'application' | 'request'

/** An argument of a factory, or of a decorated parameter: the value of a token, or an input of the request, which only `src/http` can read. */
export type Dependency =
  | { readonly kind: 'token'; readonly token: Token }
  | { readonly kind: 'input'; readonly input: unknown }

/** How a value is made. */
export type Provider =
  | {
      readonly kind: 'class'
      readonly type: Constructor
      readonly lifetime: Lifetime | 'inferred'
    }
  | { readonly kind: 'value'; readonly value: unknown }
  | {
      readonly kind: 'factory'
      readonly create: (...dependencies: never[]) => unknown
      readonly dependencies: readonly Dependency[]
      readonly lifetime: Lifetime
    }
  | {
      readonly kind: 'managed'
      readonly around: (use: (value: unknown) => Promise<unknown>, ...dependencies: never[]) => Promise<unknown>
      readonly dependencies: readonly Dependency[]
    }
  /** Provided by the caller with each request, such as the request itself. */
  | { readonly kind: 'given' }

/** A provider and its token; made by {@link provide}. */
export interface Provision {
  readonly token: Token
  readonly provider: Provider
}

export function isProvision(value: unknown): value is Provision {
  return typeof value === 'object' && value !== null && 'token' in value && isToken(value.token) && 'provider' in value
}

type Values<D extends readonly Token[]> = { -readonly [I in keyof D]: Injected<D[I]> }

/** The ways to provide a value; exactly one of `value`, `class`, `factory`, `managed`. */
export type Recipe<T, D extends readonly Token[]> =
  | { readonly value: T }
  | { readonly class: Constructor<T>; readonly lifetime?: Lifetime }
  | {
      readonly factory: (...dependencies: Values<D>) => T | Promise<T>
      readonly inject?: D
      readonly lifetime?: Lifetime
    }
  | {
      readonly managed: <R>(use: (value: T) => Promise<R>, ...dependencies: Values<D>) => Promise<R>
      readonly inject?: D
    }

/** The value of an option `lifetime`. */
export const requireLifetime = either('application', 'request')

const RECIPE: OptionChecks<Recipe<unknown, readonly Token[]>> = {
  value: unchecked,
  class: unchecked, // these with the others
  factory: unchecked,
  managed: unchecked,
  inject: list('Settings'),
  lifetime: requireLifetime,
}

/**
 * Defines how the value of a token is made, for `createApp({ providers })`. It replaces an `@Injectable()` class of the same token.
 *
 * - `value`: this value, for the whole app. The app does not dispose it.
 * - `class`: an instance of this class, built as an injectable. Its lifetime: `lifetime`, else that of its `@Injectable()`, else that of the
 *   token's, else `'request'`.
 * - `factory`: what the function returns or resolves to; called once for the app, or once for each request with `lifetime: 'request'`.
 * - `managed`: a function around each request, which calls `use(value)`. It ends before COMMIT: when it throws, the transaction is rolled back.
 *
 * @throws BootError when the recipe has none or several of the four, or has a value of the wrong type.
 * @example
 * provide(Clock, { value: fixedClock })
 * provide(Cache, { factory: (settings) => connect(settings.cacheUrl), inject: [Settings] })
 * provide(Lock, { managed: async (use) => { const lock = await take(); try { return await use(lock) } finally { await lock.free() } } })
 */
export function provide<K extends Token, const D extends readonly Token[] = []>(
  token: K,
  recipe: Recipe<Injected<K>, D>,
): Provision {
  if (!isToken(token))
    throw new BootError(`provide(): the first argument must be a class or a token('name'), got ${String(token)}.`)
  checkOptions(`provide(${tokenName(token)}, ...)`, recipe, RECIPE)
  const ways = (['value', 'class', 'factory', 'managed'] as const).filter((way) => way in recipe)
  if (ways.length !== 1) {
    throw new BootError(
      `provide(${tokenName(token)}, ...): write exactly one of value, class, factory, managed; got ${ways.join(' and ') || 'none'}.`,
    )
  }
  refuseUnusable(`provide(${tokenName(token)}, ...)`, recipe)
  return { token, provider: toProvider(token, recipe) }
}

function refuseUnusable(where: string, recipe: Readonly<Record<string, unknown>>): void {
  const { class: type } = recipe
  if ('class' in recipe && !isConstructor(type))
    throw new BootError(
      `${where}: class is ${shown(type)}. ${type === undefined ? NOT_LOADED : 'Write the class itself, or { value: ... } for a value.'}`,
    )
  for (const way of ['factory', 'managed'] as const)
    if (way in recipe && typeof recipe[way] !== 'function')
      throw new BootError(`${where}: ${way} is ${shown(recipe[way])}. Write a function, or { value: ... } for a value.`)
}

function toProvider<T, D extends readonly Token[]>(token: Token, recipe: Recipe<T, D>): Provider {
  if ('value' in recipe) return { kind: 'value', value: recipe.value }
  if ('class' in recipe) {
    const { class: type, lifetime = ownLifetime(type) ?? ownLifetime(token) ?? 'request' } = recipe
    return { kind: 'class', type, lifetime }
  }
  const dependencies = (recipe.inject ?? []).map((injected, index): Dependency => {
    if (isToken(injected)) return { kind: 'token', token: injected }
    throw new BootError(
      `provide(${tokenName(token)}, ...): inject[${index}] is ${shown(injected)}. ${injected === undefined ? NOT_LOADED : "Write a class or a token('name')."}`,
    )
  })
  if ('factory' in recipe) {
    return { kind: 'factory', create: recipe.factory, dependencies, lifetime: recipe.lifetime ?? 'application' }
  }
  // The type parameter of the result is lost here; the scope returns the result of `use`.
  return { kind: 'managed', around: recipe.managed as Extract<Provider, { kind: 'managed' }>['around'], dependencies }
}

class ProvisionAdvice {
  readonly #ofClasses = new MetadataKey<string>()
  readonly #ofGlobals = new Map<string, string>()

  write(type: object, text: string): void {
    this.#ofClasses.write(type, text)
  }

  /** For a class of the platform, by its name: reading one may load it. On Node 20, those of fetch() are 7 MB, and 3 % of a start. */
  writeGlobal(name: string, text: string): void {
    this.#ofGlobals.set(name, text)
  }

  for(type: Constructor): string | undefined {
    for (let one: object | null = type; one !== null; one = Object.getPrototypeOf(one)) {
      const text = this.#ofClasses.own(one) ?? this.#forGlobal(one)
      if (text !== undefined) return text
    }
    return undefined
  }

  #forGlobal(type: object): string | undefined {
    if (typeof type !== 'function') return undefined
    const text = this.#ofGlobals.get(type.name)
    return text !== undefined && Reflect.get(globalThis, type.name) === type ? text : undefined
  }
}

/** The advice in the error for a class, and its subclasses, that nothing provides, when it is not `@Injectable()` or `provide(...)`. */
export const howToProvide = new ProvisionAdvice()

/** The provider that a class has without `providers`. Subclasses inherit it: `class Big extends newPagination(...) {}`. */
const ownProvider = new MetadataKey<Provider>()

function ownLifetime(token: Token): Lifetime | undefined {
  const provider = ownProvider.own(token)
  return provider?.kind === 'class' && provider.lifetime !== 'inferred' ? provider.lifetime : undefined
}

/** Gives a class a provider that needs no entry in `providers`. */
export function provideItself(type: Constructor, provider: Provider): void {
  ownProvider.write(type, provider)
}

/** The provider of a token that has no entry in `providers`. A `class` provider is not inherited: it would build the parent. */
export function intrinsicProvider(token: Token): Provider | undefined {
  if (token instanceof NamedToken) return undefined
  const provider = ownProvider.inherited(token)
  return provider?.kind === 'class' && provider.type !== token ? undefined : provider
}

/**
 * Injects instances of this class into every parameter of its type. Its constructor's parameters are injected as those of a handler are.
 *
 * @param options.lifetime `'request'` (default): a new instance for each request that injects it. `'application'`: one instance for the app,
 *   which cannot inject values of a request.
 * @throws BootError for an unknown option or lifetime.
 * @example
 * @Injectable()
 * class HeroService { constructor(private readonly session: Session) {} }
 */
export function Injectable(options: { readonly lifetime?: Lifetime } = {}): ClassDecorator {
  refuseMissingCall('@Injectable()', arguments)
  return (target) => {
    const type = target as unknown as Constructor // a class decorator is applied to classes; its type is Function
    checkOptions(`@Injectable() on ${type.name}`, options, { lifetime: requireLifetime })
    provideItself(type, { kind: 'class', type, lifetime: options.lifetime ?? 'request' })
  }
}
