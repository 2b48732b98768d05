import { BootError } from '../../core/boot-error.js'
import { checkOptions, fitting, flag, milliseconds, type OptionChecks } from '../../core/option-checks.js'
import { shown } from '../../core/options.js'
import { isRecord } from '../../core/records.js'

/** The health checks of an app: `createApp({ health: { ... } })`. */
export interface HealthOptions {
  /** The path of the liveness check, without the `prefix` of the app. Default `/livez`. */
  readonly livez?: string
  /** The path of the readiness check, without the `prefix` of the app. Default `/readyz`. */
  readonly readyz?: string
  /** Milliseconds in which each database, and each of `checks`, must answer. Default 1,000. */
  readonly timeout?: number
  /**
   * Checks of other things that the app needs to take requests, by the name that `/readyz` shows. A check fails when it throws, rejects, returns false, or does not end
   * within `timeout`.
   */
  readonly checks?: Readonly<Record<string, () => unknown>>
  /**
   * Whether `/readyz` shows how many of its keys each table has used, from 0 to 1, as read in the last minute: `{ "hero.id": 0.81 }`. When all are used, every
   * INSERT fails. Whoever can read it sees the names of the tables. Default false.
   */
  readonly keys?: boolean
  /** Whether the OpenAPI document has the two paths. Default false. */
  readonly documented?: boolean
}

/** Health checks with their defaults. */
export type HealthSettings = Required<HealthOptions>

const WHERE = 'createApp(): health'

/** @throws BootError for a wrong option. */
export function checkHealthOptions(health: unknown, hasDocs: boolean): void {
  if (health === undefined || typeof health === 'boolean') return
  if (!isRecord(health))
    throw new BootError(`${WHERE} is ${shown(health)}. Write true, or an object such as { timeout: 500 }.`)
  checkOptions(WHERE, health, OPTIONS)
  const { livez = DEFAULTS.livez, readyz = DEFAULTS.readyz }: HealthOptions = health
  if (livez === readyz)
    throw new BootError(`${WHERE}: livez and readyz are both '${livez}'. Write another path for one of them.`)
  if (hasDocs) for (const [name, path] of Object.entries({ livez, readyz })) refusePathOfDocs(path, `${WHERE}.${name}`)
}

/** Without variables, and of characters that are the same encoded and decoded: the path of a request is compared as it is. */
const PATH = /^(?:\/[\w~-][\w.~-]*)+$/
const DOCS_PATH = /^\/(?:docs(?:\/.*)?|openapi\.json)$/

const path = fitting(
  (value) => typeof value === 'string' && PATH.test(value),
  "a path without variables, such as '/readyz'",
)

const CHECKS = '{ queue: async () => { await queue.ping() } }'

const OPTIONS: OptionChecks<HealthOptions> = {
  livez: path,
  readyz: path,
  timeout: milliseconds('500'),
  checks(checks, place) {
    fitting(isRecord, CHECKS)(checks, place)
    const check = fitting((value) => typeof value === 'function', CHECKS)
    for (const [name, value] of Object.entries(checks as object)) check(value, `${place}.${name}`)
  },
  keys: flag,
  documented: flag,
}

function refusePathOfDocs(path: string, where: string): void {
  if (DOCS_PATH.test(path))
    throw new BootError(
      `${where} is '${path}', which belongs to the documentation. Choose another path, or write createApp({ docs: false }).`,
    )
}

const DEFAULTS = { livez: '/livez', readyz: '/readyz' } as const

/** Undefined for an app without health checks. */
export function healthSettings(health: boolean | HealthOptions | undefined): HealthSettings | undefined {
  if (health === undefined || health === false) return undefined
  const { livez, readyz, timeout, checks, keys, documented } = health === true ? {} : health
  return {
    livez: livez ?? DEFAULTS.livez,
    readyz: readyz ?? DEFAULTS.readyz,
    timeout: timeout ?? 1_000,
    checks: checks ?? {},
    keys: keys ?? false,
    documented: documented ?? false,
  }
}
