import { endsWithin } from '../../core/promises.js'
import type { Lifespan } from '../lifespan.js'
import type { HealthSettings } from './health-options.js'

/** The result of a readiness check; `checks` by name. */
export interface Report {
  readonly isReady: boolean
  readonly checks: Readonly<Record<string, 'ok' | 'failed'>>
}

/** Receives a line when the app becomes ready or unready, not at each check. */
export interface ReadinessLog {
  info(text: string): void
  error(where: string, error: unknown): void
}

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
  readonly #settings: Pick<HealthSettings, 'timeout' | 'checks'>
  readonly #log: ReadinessLog
  /** Requests that come while the checks run get the same report. */
  #running: Promise<Report> | undefined
  /** The names of the checks that failed last. */
  #failing: ReadonlySet<string> = new Set()

  constructor(lifespans: readonly Lifespan[], settings: Pick<HealthSettings, 'timeout' | 'checks'>, log: ReadinessLog) {
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
    return {
      isReady: outcomes.every(({ failure }) => failure === undefined),
      checks: Object.fromEntries(outcomes.map(({ name, failure }) => [name, failure === undefined ? 'ok' : 'failed'])),
    }
  }

  #checks(): Check[] {
    const { timeout, checks } = this.#settings
    const names = new Set(Object.keys(checks))
    const databases = this.#lifespans.map((lifespan): Check => ({
      name: unusedName(lifespan.publicName ?? 'database', names),
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
