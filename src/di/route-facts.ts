import type { Unit } from '../core/bracket.js'
import type { ClientToken } from '../core/client-token.js'
import type { WorkRecord } from '../core/events/work-record.js'
import { MetadataKey } from './metadata.js'
import type { Constructor, Token } from './token.js'

/** The facts that a database may know of a route when it decides which unit of work, if any, its requests need. */
export interface RouteFacts {
  /** For the log: `POST /heroes (HeroController.create)`. */
  readonly name: string
  readonly controller: Constructor
  readonly member: string
  /** GET and HEAD, which may run again. */
  readonly safe: boolean
  /** All tokens that the handler injects, directly or through others. */
  readonly tokens: readonly Token[]
}

/** Opens a unit of work for one attempt of a request; returns undefined if the route has none in this resource. `previous`: those of the last attempt. */
export type OpenUnit = (
  attempt: number,
  record?: WorkRecord,
  token?: ClientToken,
  request?: object,
  previous?: readonly Unit[],
) => Unit | undefined

/** The transaction that each request of a route has, for the command line. */
export interface TransactionDescription {
  /** In lower case; undefined for that of the database. */
  readonly isolation: string | undefined
  readonly readOnly: boolean
  /** How many times the handler may run again. */
  readonly retry: number
}

/** A decorator that has an effect on the handlers of routes only. Anywhere else it would be ignored: the app does not start. */
export interface HandlerDecorator {
  /** `@Transactional()` */
  readonly name: string
  /** The method that it is on; undefined on the class. */
  readonly member: string | undefined
  readonly needsDatabase: boolean
}

const handlerDecorators = new MetadataKey<readonly HandlerDecorator[]>()

/** Called by such a decorator. `target` is the prototype of a method, or the class. */
export function addHandlerDecorator(target: object, decorator: HandlerDecorator): void {
  const type = typeof target === 'function' ? target : target.constructor
  handlerDecorators.write(type, [...(handlerDecorators.own(type) ?? []), decorator])
}

/** The decorators of a class and of its ancestors. */
export function handlerDecoratorsOf(type: object | null): readonly HandlerDecorator[] {
  if (typeof type !== 'function') return []
  return [...(handlerDecorators.own(type) ?? []), ...handlerDecoratorsOf(Object.getPrototypeOf(type))]
}
