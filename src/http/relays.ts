import { BootError } from '../core/boot-error.js'
import { fitting } from '../core/option-checks.js'
import { isRecord } from '../core/records.js'
import type { Lifespan } from './lifespan.js'
import type { Log } from './server/logger.js'

/** What an app runs in the processes that work, in addition to jobs. Made by `forward()` of `sequitur/feeds`. */
export interface AppRelay {
  /** Identifies it in the database. */
  readonly name: string
  /** Called when everything else is started. @throws BootError for what cannot work. */
  start(log: Log): Promise<RunningRelay>
  /**
   * What `sequitur doctor` says of the relays in the databases, a sentence each. Creates no tables.
   *
   * @param names of all relays of the app.
   */
  hints(names: readonly string[], lifespans: readonly Lifespan[]): Promise<readonly string[]>
}

export interface RunningRelay {
  /**
   * Begins nothing more. Resolves when what it runs has ended.
   *
   * @param wait milliseconds until that is aborted.
   */
  stop(wait: number): Promise<void>
}

/** The check of an entry of `createApp({ relays })`. */
export const requireRelay = fitting(isRelay, `forward({ name: 'nats', events: [HeroSaved] }, publish)`)

function isRelay(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'hints' in value && typeof value.hints === 'function'
}

/** The relays of an app. */
export class Relays {
  readonly #relays: readonly AppRelay[]
  readonly #lifespans: readonly Lifespan[]
  readonly #log: Log
  #running: RunningRelay[] = []
  #isWorking: boolean

  constructor(relays: readonly AppRelay[], lifespans: readonly Lifespan[], log: Log, isWorking: boolean) {
    this.#relays = relays
    this.#lifespans = lifespans
    this.#log = log
    this.#isWorking = isWorking
  }

  get names(): readonly string[] {
    return this.#relays.map(({ name }) => name)
  }

  /** Chooses that this process runs them, before its start. */
  work(): void {
    this.#isWorking = true
  }

  async start(): Promise<void> {
    if (this.#isWorking) for (const relay of this.#relays) this.#running.push(await relay.start(this.#log))
  }

  async stop(wait: number): Promise<void> {
    await Promise.all(this.#running.map((relay) => relay.stop(wait)))
    this.#running = []
  }

  async hints(): Promise<readonly string[]> {
    return (await this.#relays[0]?.hints(this.names, this.#lifespans)) ?? []
  }
}

/** @throws BootError for two relays of one name. Undefined if there are none. */
export function openRelays(
  relays: readonly AppRelay[] | undefined,
  lifespans: readonly Lifespan[],
  log: Log,
  work: unknown,
): Relays | undefined {
  if (relays === undefined || relays.length === 0) return undefined
  for (const [index, { name }] of relays.entries())
    if (relays.findIndex((other) => other.name === name) < index)
      throw new BootError(`createApp(): two relays have the name ${name}. Give each a name of its own.`)
  return new Relays(relays, lifespans, log, isRecord(work))
}
