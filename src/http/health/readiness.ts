import { endsWithin } from '../../core/promises.js'
import type { Lifespan } from '../lifespan.js'
import type { HealthSettings } from './health-options.js'

/** The result of a readiness check; `checks` by name. */
export interface Report {
  readonly isReady: boolean
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>
  /** How many of its keys each table has used, from 0 to 1, by the name of the database; only if the option asks for it. */
  readonly keys?: UsedKeys
}

type UsedKeys = Readonly<Record<string, Readonly<Record<string, number>>>>

/** Receives a line when the app becomes ready or unready, not at each check. */
export interface ReadinessLog {
  info(text: string): void
  error(where: string, error: unknown): void
}

/** Milliseconds for which the keys are not read again. */
const KEYS_AGE = 60_000

interface Check {
  readonly name: string
  readonly run: () => unknown
}

interface Outcome {
  readonly name: string
  /** Undefined for a check that has passed. */
  readonly failure: unknown
}

/** Whether the app is started and everything that it needs can be reached. */
export class Readiness {
  readonly #lifespans: readonly Lifespan[]
  readonly #settings: Pick<HealthSettings, 'timeout' | 'checks' | 'keys'>
  readonly #log: ReadinessLog
  /** Requests that come while the checks run get the same report. */
  #running: Promise<Report> | undefined
  #keys: UsedKeys = {}
  /** When the keys were read last, by `performance.now()`. */
  #keysReadAt = -Infinity
  /** The names of the checks that failed last. */
  #failing: ReadonlySet<string> = new Set()

  constructor(
    lifespans: readonly Lifespan[],
    settings: Pick<HealthSettings, 'timeout' | 'checks' | 'keys'>,
    log: ReadinessLog,
  ) {
    this.#lifespans = lifespans
    this.#settings = settings
    this.#log = log
  }

  /** @param start resolves when the app is started. */
  report(start: () => Promise<void>): Promise<Report> {
    return (this.#running ??= this.#report(start).finally(() => (this.#running = undefined)))
  }

  async #report(start: () => Promise<void>): Promise<Report> {
    const startup = await this.#outcome({ name: 'startup', run: start })
    const outcomes =
      startup.failure === undefined ? await Promise.all(this.#checks().map((check) => this.#outcome(check))) : [startup] // the names of databases that are not started are not known yet
    this.#logChanges(outcomes)
    const isReady = outcomes.every(({ failure }) => failure === undefined)
    if (this.#settings.keys && isReady) await this.#readKeys()
    return {
      isReady,
      checks: Object.fromEntries(outcomes.map(({ name, failure }) => [name, failure === undefined ? 'ok' : 'failed'])),
      ...(this.#settings.keys ? { keys: this.#keys } : {}),
    }
  }

  /** A detail: what keeps it from being read is not what keeps the app from being ready. */
  async #readKeys(): Promise<void> {
    const now = performance.now()
    if (now - this.#keysReadAt < KEYS_AGE) return
    this.#keysReadAt = now
    const reading = Promise.all(
      this.#databases().map(async ([name, lifespan]) => [name, (await lifespan.usedKeys?.()) ?? {}] as const),
    ).then(
      (keys) => void (this.#keys = Object.fromEntries(keys)),
      (error: unknown) => this.#log.error('The keys of the tables could not be read.', error),
    )
    await endsWithin(reading, this.#settings.timeout)
  }

  /** By the names of their checks. */
  #databases(): (readonly [name: string, lifespan: Lifespan])[] {
    const names = new Set(Object.keys(this.#settings.checks))
    return this.#lifespans.map((lifespan) => [unusedName(lifespan.publicName ?? 'database', names), lifespan] as const)
  }

  #checks(): Check[] {
    const { timeout, checks } = this.#settings
    const databases = this.#databases().map(([name, lifespan]): Check => ({
      name,
      run: () => lifespan.ping?.(timeout),
    }))
    return [...databases, ...Object.entries(checks).map(([name, run]) => ({ name, run }))]
  }

  async #outcome({ name, run }: Check): Promise<Outcome> {
    const { timeout } = this.#settings
    const checking = async () => {
      if ((await run()) === false) throw new Error('the check returned false')
    }
    try {
      if (await endsWithin(checking(), timeout)) return { name, failure: undefined }
      return { name, failure: new Error(`no answer within ${timeout} ms`) }
    } catch (error) {
      return { name, failure: error ?? new Error('the check failed without an error') }
    }
  }

  #logChanges(outcomes: readonly Outcome[]): void {
    const failed = outcomes.filter(({ failure }) => failure !== undefined)
    for (const { name, failure } of failed)
      if (!this.#failing.has(name)) this.#log.error(`Not ready, as this check fails: ${name}.`, failure)
    if (failed.length === 0 && this.#failing.size > 0) this.#log.info('Ready again: all checks pass.')
    this.#failing = new Set(failed.map(({ name }) => name))
  }
}

/** `heroes`, or `heroes 2` if there is one already; adds it to the names. */
function unusedName(wanted: string, names: Set<string>): string {
  let name = wanted
  for (let number = 2; names.has(name); number++) name = `${wanted} ${number}`
  names.add(name)
  return name
}
