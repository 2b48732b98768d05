import { BootError } from '../../core/boot-error.js'
import {
  callback,
  checkOptions,
  list,
  type OptionCheck,
  type OptionChecks,
  requireArray,
  unchecked,
} from '../../core/option-checks.js'
import { NOT_LOADED, shown } from '../../core/options.js'
import { andThen } from '../../core/promises.js'
import { MetadataKey } from '../../di/metadata.js'
import { provideItself } from '../../di/provider.js'
import { type Constructor, type Injected, isToken, type Token, tokenName } from '../../di/token.js'
import { forbidden } from '../errors.js'

/** The options of `guard(inject, check, options)`. */
export interface GuardOptions {
  /** The scopes, or roles, that OpenAPI documents for the security schemes of the injected classes. They are not checked: `check` does that. */
  readonly scopes?: readonly string[]
  /** The detail of the 403. Default: `You may not do this.` */
  readonly detail?: string
}

const GUARD_OPTIONS: OptionChecks<GuardOptions> = { scopes: list(`'editor'`), detail: unchecked }

/** The documented facts of a guard. */
interface GuardFacts {
  readonly inject: readonly Token[]
  readonly scopes: readonly string[]
}

const guards = new MetadataKey<GuardFacts>()

type Values<D extends readonly Token[]> = { -readonly [I in keyof D]: Injected<D[I]> }

/**
 * A check for `requires` of routes and controllers: of what it injects, it returns whether the request is allowed. If not, the response is a 403.
 *
 * @throws BootError for something else than tokens and a function.
 * @example
 * const editors = guard([CurrentUser], (user) => user.roles.includes('editor'), { scopes: ['editor'] })
 * // @Delete('/:hero_id', { requires: [editors] })
 */
export function guard<const D extends readonly Token[]>(
  inject: D,
  check: (...values: Values<D>) => boolean | Promise<boolean>,
  options: GuardOptions = {},
): Constructor<object> {
  checkOptions('guard([...], check, options)', options, GUARD_OPTIONS)
  const { scopes = [], detail = 'You may not do this.' } = options
  requireArray(inject, 'guard([...], check): its first argument', 'CurrentUser')
  requireTokenItems(inject, 'guard([...], check)')
  callback('(user) => user.isAdmin')(check, 'guard([...], check): check')
  class Guard {}
  Object.defineProperty(Guard, 'name', { value: `guard([${inject.map(tokenName).join(', ')}])` })
  provideItself(Guard, {
    kind: 'factory',
    lifetime: 'request',
    dependencies: inject.map((token) => ({ kind: 'token', token })),
    create: (...values: Values<D>) => andThen(check(...values), (allowed: unknown) => refuse(allowed, detail)),
  })
  guards.write(Guard, { inject, scopes })
  return Guard
}

// A check that forgets to return must not allow everything.
function refuse(allowed: unknown, detail: string): true {
  if (allowed === true) return true
  if (allowed === false) return forbidden(detail)
  throw new TypeError(`The check of guard([...], check) returned ${shown(allowed)}. Return true or false.`)
}

/** The facts that a guard documents; undefined for another token. */
export function guardOf(token: Token): GuardFacts | undefined {
  return guards.own(token)
}

function requireTokenItems(tokens: readonly unknown[] | undefined, place: string): void {
  for (const [index, found] of tokens?.entries() ?? [])
    if (!isToken(found))
      throw new BootError(
        `${place}: item ${index} is ${shown(found)}. ${found === undefined ? NOT_LOADED : "Write a class, a guard(...) or a token('name')."}`,
      )
}

/** The value of an option `requires`: a list of classes and tokens. */
export const requireTokens: OptionCheck = (tokens, place) => {
  requireArray(tokens, place, 'Admin')
  requireTokenItems(tokens, place)
}
