import { BootError } from '../../core/boot-error.js'
import { isClass, shown } from '../../core/options.js'
import type { Session } from '../../db/session/session.js'
import type { Constructor } from '../../di/token.js'
import type { AnyStatement } from '../paginator.js'

/** The callbacks of a paginator, as it calls them. */
export interface Callbacks {
  readonly count?: ((session: Session, statement: AnyStatement) => number | Promise<number>) | false
  readonly map?: (row: unknown) => unknown
  readonly mapPage?: (rows: readonly unknown[]) => unknown
}

/** Options that are functions, or injectable classes with a method of the option's name. */
export type CallbackOptions = { readonly [N in keyof Callbacks]?: unknown }

const NAMES = ['count', 'map', 'mapPage'] as const
type Name = (typeof NAMES)[number]
type Callback = (...args: readonly unknown[]) => unknown

/** An option whose value is a class, of which each request injects an instance. */
export interface InjectedCallback {
  readonly name: Name
  readonly token: Constructor
}

/** @throws BootError for an option that is neither a function nor a class with a method of its name. */
export function injectedCallbacks(options: CallbackOptions): InjectedCallback[] {
  if (options.map !== undefined && options.mapPage !== undefined)
    throw new BootError('newPagination(): map receives each row, mapPage all rows of a page. Write one of them.')
  return NAMES.flatMap((name) => {
    const given = options[name]
    if (given === undefined || (name === 'count' && given === false)) return []
    if (!isCallable(given))
      throw new BootError(`newPagination(): ${name} must be ${expected(name)}, got ${shown(given)}.`)
    if (typeof Reflect.get(given.prototype ?? {}, name) === 'function')
      return { name, token: given as unknown as Constructor } // a function whose prototype has methods is a class
    if (!isClass(given)) return []
    throw new BootError(
      `newPagination(): ${name} is ${shown(given)}, which has no method '${name}'. Write ${expected(name)}.`,
    )
  })
}

function isCallable(value: unknown): value is Callback & { readonly prototype?: object } {
  return typeof value === 'function'
}

function expected(name: Name): string {
  return `a function, or an injectable class with a method '${name}'${name === 'count' ? ', or false' : ''}`
}

/** The callbacks that are functions, and the methods of the instances that a request has injected. */
export function callbacksOf(
  { count, map, mapPage }: CallbackOptions,
  injected: readonly InjectedCallback[],
  instances: readonly object[],
): Callbacks {
  const methods = injected.map(({ name }, index) => {
    const instance = instances[index] as Record<Name, Callback> // of the class that injectedCallbacks() has checked
    return [name, (...args: readonly unknown[]) => instance[name](...args)]
  })
  return { count, map, mapPage, ...Object.fromEntries(methods) } as Callbacks // injectedCallbacks() has checked them
}
