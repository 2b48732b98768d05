import type { ClientTokenPlace } from '../core/client-token.js'
import type { SentStatement } from '../core/events/work-record.js'
import type { FindErrorStatus } from '../core/error-status.js'
import { endsWithin, type Limit, unlessGivenUp } from '../core/promises.js'
import type { Provision } from '../di/provider.js'
import type { OpenUnit, RouteFacts, TransactionDescription } from '../di/route-facts.js'
import type { Constructor } from '../di/token.js'
import type { Log } from './server/logger.js'

/**
 * A resource that is opened and closed with the app, and in which requests have units of work: a database. This interface is all that
 * `src/http` knows of it; `newLifespan` makes one.
 */
export interface Lifespan {
  /** The objects of it that parameters can inject. */
  readonly provisions: readonly Provision[]
  /** Receives the models of `createApp({ models })`. */
  adopt(models: readonly Constructor[]): void
  /**
   * @param report receives errors that nothing awaits, and what they are about.
   * @param warn receives what works, but will not under load.
   * @param signal aborted when the app is closed while it starts: a start that waits for something ends then, with an error. One that still runs after
   * `timeouts.drain` is abandoned, and stopped when it has ended.
   * @throws when it cannot be reached, or does not fit the models: the app does not start then.
   */
  start(
    log: (line: string) => void,
    report: (what: string, error: unknown) => void,
    warn: (line: string) => void,
    signal?: AbortSignal,
  ): Promise<void>
  /** @param wait milliseconds to wait for work that still runs outside of requests, which is rolled back then. */
  stop(wait?: number): Promise<void>
  /**
   * Opens a unit of work for each run of the route's handler; undefined when the route needs none. The unit adds what it does to the record of
   * the request, or job, which exists if a subscriber listens. The token exists if `clientTokens` is set.
   */
  unitOpenerOf(route: RouteFacts): OpenUnit | undefined
  /** Whether units are opened with the request and may use its values. Read when the app is built. */
  readonly needsRequest?: boolean
  /**
   * Where clients keep what a unit sends by its token: a new request of theirs then knows what they have committed before. Read when all lifespans are
   * started; undefined for no tokens.
   */
  readonly clientTokens?: ClientTokenPlace | undefined
  /** Describes the transaction of the route's requests, which `unitOpenerOf` opens; undefined when the route has none. */
  transactionOf?(route: RouteFacts): TransactionDescription | undefined
  /**
   * Compares the models with the database, and closes it again. Creates no tables.
   *
   * @throws what `start` throws. Tables that `start` would create may be missing.
   */
  check?(): Promise<DatabaseReport>
  /** How many of its keys each table has used, from 0 to 1, by `table.column`. */
  usedKeys?(): Promise<Readonly<Record<string, number>>>
  /** The name of the resource in health checks, which clients can read. */
  readonly publicName?: string
  /**
   * Resolves when the resource answers. Without this method it is taken for reachable.
   *
   * @param limit milliseconds to wait for the answer.
   */
  ping?(limit: number): Promise<void>
  /**
   * Called after a slow request, with `createApp({ log: { explain: true } })`. Must not delay other requests.
   *
   * @returns how the statement is executed, a line for each step, without values; undefined if that is not known, or not now.
   */
  explain?(statement: SentStatement): Promise<readonly string[] | undefined>
  /** Called once all lifespans are started: the classes in it that are models but belong to no started database. */
  modelsWithoutDatabase?(classes: readonly unknown[]): readonly Constructor[]
  /** The status of an error of this resource. */
  readonly findErrorStatus: FindErrorStatus
}

/** The report of `sequitur doctor` on a database that fits the models. */
export interface DatabaseReport {
  /** How many models fit. */
  readonly models: number
  /** How many of its keys each table has used: one phrase each. */
  readonly keys: readonly string[]
  /** Hints that would make it faster, or keep it working: one sentence each. */
  readonly hints: readonly string[]
}

/** The option `lifespan` of createApp() as a list. */
export function lifespansOf({ lifespan }: { readonly lifespan?: Lifespan | readonly Lifespan[] }): readonly Lifespan[] {
  return [lifespan ?? []].flat()
}

/** Milliseconds that a lifespan has to stop, beyond those that it waits for work. */
const STOP_LIMIT = 10_000

/** @throws what its start throws, or the reason of the signal: also if it is aborted already. */
export async function startLifespan(lifespan: Lifespan, log: Log, limit: Limit): Promise<void> {
  const { signal } = limit
  signal.throwIfAborted()
  const starting = lifespan.start(
    (line) => log.info(line),
    (what, error) => log.error(`${what}:`, error),
    (line) => log.warn(line),
    signal,
  )
  const stopLate = () => void stopLifespan(lifespan, 0).catch((error: unknown) => log.error('While closing:', error))
  await unlessGivenUp(Promise.resolve(starting), limit, stopLate)
}

/** @throws what its stop throws, or an Error if it does not end in time. */
export async function stopLifespan(lifespan: Lifespan, wait: number): Promise<void> {
  const { publicName = 'lifespan' } = lifespan
  if (await endsWithin(Promise.resolve(lifespan.stop(wait)), wait + STOP_LIMIT)) return
  throw new Error(`The stop of ${publicName} has not ended in time; the app closes without waiting for it.`)
}

/** Opens the unit of work of a route in one of the lifespans. */
export interface UnitOpener {
  readonly lifespan: Lifespan
  readonly open: OpenUnit
}

/** What opens the units of work of one route; nothing for a route that needs none, such as one without a transaction. */
export function unitOpeners(lifespans: readonly Lifespan[], route: RouteFacts): readonly UnitOpener[] {
  return lifespans.flatMap((lifespan) => {
    const open = lifespan.unitOpenerOf(route)
    return open ? { lifespan, open } : []
  })
}
