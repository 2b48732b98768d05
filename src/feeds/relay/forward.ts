import { checkOptions, integer, list, milliseconds, type OptionChecks, storedName } from '../../core/option-checks.js'
import { BootError } from '../../core/boot-error.js'
import { shown } from '../../core/options.js'
import type { Constructor } from '../../di/token.js'
import type { AppRelay, RunningRelay } from '../../http/relays.js'
import type { Lifespan } from '../../http/lifespan.js'
import type { Log } from '../../http/server/logger.js'
import type { AsJson } from '../../schema/output/as-json.js'
import { eventOf } from '../event.js'
import { feedDatabaseOfApp } from '../feed-database.js'
import { relayHints } from './hints.js'
import { type RelayPlan, RelayRun } from './relay-run.js'
import type { RelayedEvent } from './relayed-event.js'

/** The options of `forward(options, publish)`. */
export interface ForwardOptions<Events extends readonly Constructor[] = readonly Constructor[]> {
  /** Identifies the relay in the database: it stays the same when programs are renamed. Letters, digits, and `_ . : -`, at most 100: `nats` */
  readonly name: string
  /** The classes of the events that it publishes, in all topics. */
  readonly events: Events
  /** How many events are published at once, at most: 1 to 1,000. Default 100. */
  readonly batch?: number
  /** Milliseconds after which publishing has failed, and its signal is aborted. Default 30,000. */
  readonly timeout?: number
}

/** An event of one of the classes. */
export type RelayedEventOf<Events extends readonly Constructor[]> = RelayedEvent<
  string,
  AsJson<InstanceType<Events[number]>>
>

const OPTIONS: OptionChecks<ForwardOptions> = {
  name: storedName("'nats'"),
  events: list('HeroSaved', eventOf),
  batch: integer('events that are published at once, as in 100', 1, 1_000),
  timeout: milliseconds('30_000'),
}

/**
 * A relay: hands committed events over to another system, at least once, those of a topic in the order of their commits. Name it in
 * `createApp({ relays: [toNats] })`: it runs where jobs do, by `npx sequitur work` or with `createApp({ work })`, and in one process at a time.
 *
 * A new relay begins with the oldest event that is kept. If `publish` throws, or takes longer than `timeout`, the same events are published again after a
 * second, two, four, up to a minute.
 *
 * @param publish resolves when the other system has stored the events: they are not published again then. Its signal is aborted when another process may run the relay.
 * @throws BootError for options that are wrong.
 * @example
 * export const toNats = forward({ name: 'nats', events: [HeroSaved] }, async (events) => {
 *   for (const { id, data } of events) await stream.publish('heroes', JSON.stringify(data), { msgID: id })
 * })
 */
export function forward<const Events extends readonly Constructor[]>(
  options: ForwardOptions<Events>,
  publish: (events: readonly RelayedEventOf<Events>[], signal: AbortSignal) => Promise<unknown> | void,
): Relay {
  checkOptions('forward()', options, OPTIONS, ['name', 'events'])
  if (typeof publish !== 'function')
    throw new BootError(`forward(): the second argument is ${shown(publish)}. Write async (events) => { ... }.`)
  const { name, events, batch = 100, timeout = 30_000 } = options
  if (events.length === 0) throw new BootError(`forward(): events is empty. Write events: [HeroSaved].`)
  return new Relay({
    name,
    types: events.map((event) => eventOf(event, 'forward(): events').type),
    batch,
    timeout,
    publish: (rows, signal) => publish(rows as readonly RelayedEventOf<Events>[], signal), // stored by the publisher of these classes
  })
}

/** Made by {@link forward}. */
export class Relay implements AppRelay {
  readonly #plan: RelayPlan

  /** @internal */
  constructor(plan: RelayPlan) {
    this.#plan = plan
  }

  get name(): string {
    return this.#plan.name
  }

  /** Called by the app. */
  async start(log: Log): Promise<RunningRelay> {
    const run = new RelayRun(this.#plan, feedDatabaseOfApp('relays'), log)
    run.start()
    return run
  }

  /** Called by `sequitur doctor`. */
  hints(names: readonly string[], lifespans: readonly Lifespan[]): Promise<readonly string[]> {
    return relayHints(names, lifespans)
  }
}
