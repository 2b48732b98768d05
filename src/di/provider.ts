import { BootError } from '../core/boot-error.js'
import { MetadataKey } from './metadata.js'
import { NOT_LOADED, type OptionNames, refuseOtherThanList, refuseUnknownOptions, shown } from '../core/options.js'
import { type Constructor, type Injected, type Token, isConstructor, isToken, NamedToken, tokenName } from './token.js'

/** How long a value lives: as long as the app, or for one request. */
export type Lifetime = 'application' | 'request'

/** What a factory is given: a value by its token, or an input of the request (opaque here; the HTTP side reads it). */
export type Dependency =
  | { readonly kind: 'token'; readonly token: Token }
  | { readonly kind: 'input'; readonly input: unknown }

/** How a value comes to be. */
export type Provider =
  | { readonly kind: 'class'; readonly type: Constructor; readonly lifetime: Lifetime | 'inferred' }
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
  /** Handed in with each request, such as the request itself. */
  | { readonly kind: 'given' }

/** A provider under the token that it answers to; made by {@link provide}. */
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

/**
 * Says how the value of a token comes to be; given to `createApp({ providers })`, where it also replaces an `@Injectable()` class.
 *
 * - `value`: this very value, for the whole app. Whoever made it disposes it.
 * - `class`: an instance of this class, built like an injectable; it lives as long as its own `@Injectable()` or the token's says.
 * - `factory`: what the function returns or resolves to; once for the app unless `lifetime: 'request'`.
 * - `managed`: a bracket around each request. It ends before COMMIT, so that its failure still rolls back.
 *
 * @throws BootError when the recipe has none or several of the four, or what it has is no class or function.
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
  refuseUnknownOptions(`provide(${tokenName(token)}, ...)`, recipe, RECIPE)
  const ways = (['value', 'class', 'factory', 'managed'] as const).filter((way) => way in recipe)
  if (ways.length !== 1) {
    throw new BootError(
      `provide(${tokenName(token)}, ...): give exactly one of value, class, factory, managed; got ${ways.join(' and ') || 'none'}.`,
    )
  }
  refuseUnusable(`provide(${tokenName(token)}, ...)`, recipe)
  return { token, provider: toProvider(token, recipe) }
}

const RECIPE: OptionNames<Recipe<unknown, readonly Token[]>> = {
  value: true,
  class: true,
  factory: true,
  managed: true,
  inject: true,
  lifetime: true,
}

function refuseUnusable(where: string, recipe: Readonly<Record<string, unknown>>): void {
  const { class: type, inject } = recipe
  if ('class' in recipe && !isConstructor(type))
    throw new BootError(
      `${where}: class is ${shown(type)}. ${type === undefined ? NOT_LOADED : 'Write the class itself, or { value: ... } for what is made already.'}`,
    )
  for (const way of ['factory', 'managed'] as const)
    if (way in recipe && typeof recipe[way] !== 'function')
      throw new BootError(
        `${where}: ${way} is ${shown(recipe[way])}. Write a function, or { value: ... } for what is made already.`,
      )
  refuseOtherThanList(inject, `${where}: inject`, 'Settings')
  refuseOtherThanLifetime(where, recipe['lifetime'])
}

/** @throws BootError for what is neither left out nor one of the two. */
export function refuseOtherThanLifetime(where: string, lifetime: unknown): void {
  if (lifetime === undefined || lifetime === 'application' || lifetime === 'request') return
  throw new BootError(`${where}: lifetime is ${shown(lifetime)}. Write 'application' or 'request'.`)
}

function toProvider<T, D extends readonly Token[]>(token: Token, recipe: Recipe<T, D>): Provider {
  if ('value' in recipe) return { kind: 'value', value: recipe.value }
  if ('class' in recipe) {
    const { class: type, lifetime = ownLifetime(type) ?? ownLifetime(token) ?? 'request' } = recipe
    return { kind: 'class', type, lifetime }
  }
  const dependencies = (recipe.inject ?? []).map((asked, index): Dependency => {
    if (isToken(asked)) return { kind: 'token', token: asked }
    throw new BootError(
      `provide(${tokenName(token)}, ...): inject[${index}] is ${String(asked)}, neither a class nor a token('name').`,
    )
  })
  if ('factory' in recipe) {
    return { kind: 'factory', create: recipe.factory, dependencies, lifetime: recipe.lifetime ?? 'application' }
  }
  // The generic result of `around` is erased here: the scope gives back what `use` gave.
  return { kind: 'managed', around: recipe.managed as Extract<Provider, { kind: 'managed' }>['around'], dependencies }
}

/** What to write for a class, and those below it, that nothing provides; where it is neither `@Injectable()` nor `provide(...)`. */
export const howToProvide = new MetadataKey<string>('howToProvide')

/** How a class provides itself; a subclass of a self-providing class (`class Big extends newPagination(...) {}`) inherits it. */
const ownProvider = new MetadataKey<Provider>('provider')

function ownLifetime(token: Token): Lifetime | undefined {
  const provider = ownProvider.own(token)
  return provider?.kind === 'class' && provider.lifetime !== 'inferred' ? provider.lifetime : undefined
}

/** Makes a class provide itself. */
export function provideItself(type: Constructor, provider: Provider): void {
  ownProvider.write(type, provider)
}

/** How a token provides itself, when nobody said otherwise. A `class` provider is not inherited: it would build the parent. */
export function intrinsicProvider(token: Token): Provider | undefined {
  if (token instanceof NamedToken) return undefined
  const provider = ownProvider.inherited(token)
  return provider?.kind === 'class' && provider.type !== token ? undefined : provider
}

/**
 * Makes a class available to every parameter of its type. What its constructor asks for follows the rules of a handler's parameters.
 *
 * @param options.lifetime `'request'` (default): a new instance for each request that needs one. `'application'`: one for the whole app;
 *   it cannot ask for anything of a request.
 * @example
 * @Injectable()
 * class HeroService { constructor(private readonly session: Session) {} }
 */
export function Injectable(options: { readonly lifetime?: Lifetime } = {}): ClassDecorator {
  return (target) => {
    const type = target as unknown as Constructor
    refuseUnknownOptions(`@Injectable() on ${type.name}`, options, { lifetime: true })
    refuseOtherThanLifetime(`@Injectable() on ${type.name}`, options.lifetime)
    provideItself(type, { kind: 'class', type, lifetime: options.lifetime ?? 'request' })
  }
}
