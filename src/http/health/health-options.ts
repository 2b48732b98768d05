import { BootError } from '../../core/boot-error.js'
import {
  LONGEST,
  type OptionNames,
  refuseOtherThanWhole,
  refuseOtherType,
  refuseUnknownOptions,
  shown,
} from '../../core/options.js'

/** The health checks of an app: `createApp({ health: { ... } })`. */
export interface HealthOptions {
  /** The path of the liveness check, without the `prefix` of the app. Default `/livez`. */
  readonly livez?: string
  /** The path of the readiness check, without the `prefix` of the app. Default `/readyz`. */
  readonly readyz?: string
  /** Milliseconds in which each database, and each of `checks`, must answer. Default 1,000. */
  readonly timeout?: number
  /**
   * What else the app needs to take requests, by the name that `/readyz` shows. A check fails when it throws, rejects, returns false, or does not end
   * within `timeout`.
   */
  readonly checks?: Readonly<Record<string, () => unknown>>
  /** Whether the OpenAPI document has the two paths. Default false. */
  readonly documented?: boolean
}

/** Health checks with their defaults. */
export type HealthSettings = Required<HealthOptions>

const OPTIONS: OptionNames<HealthOptions> = {
  livez: true,
  readyz: true,
  timeout: true,
  checks: true,
  documented: true,
}

const WHERE = 'createApp(): health'

/** @throws BootError for a wrong option. */
export function checkHealthOptions(health: unknown, hasDocs: boolean): void {
  if (health === undefined || typeof health === 'boolean') return
  if (typeof health !== 'object' || health === null || Array.isArray(health))
    throw new BootError(`${WHERE} is ${shown(health)}. Write true, or an object such as { timeout: 500 }.`)
  refuseUnknownOptions(WHERE, health, OPTIONS)
  const { timeout, checks, documented }: HealthOptions = health
  refuseOtherThanWhole(timeout, `${WHERE}.timeout`, 'milliseconds, as in 500', 1, LONGEST)
  refuseOtherType(`${WHERE}.documented`, documented, 'boolean', 'true or false')
  const { livez = DEFAULTS.livez, readyz = DEFAULTS.readyz }: HealthOptions = health
  refuseOtherThanPath(livez, `${WHERE}.livez`, hasDocs)
  refuseOtherThanPath(readyz, `${WHERE}.readyz`, hasDocs)
  if (livez === readyz)
    throw new BootError(`${WHERE}: livez and readyz are both '${livez}'. Write another path for one of them.`)
  refuseOtherThanChecks(checks)
}

/** Without variables, and of characters that are the same encoded and decoded: the path of a request is compared as it is. */
const PATH = /^(?:\/[\w~-][\w.~-]*)+$/
const OF_DOCS = /^\/(?:docs(?:\/.*)?|openapi\.json)$/

function refuseOtherThanPath(path: unknown, where: string, hasDocs: boolean): void {
  if (typeof path !== 'string' || !PATH.test(path))
    throw new BootError(`${where} is ${shown(path)}. Write a path without variables, such as '/readyz'.`)
  if (hasDocs && OF_DOCS.test(path))
    throw new BootError(
      `${where} is '${path}', which belongs to the documentation. Choose another path, or write createApp({ docs: false }).`,
    )
}

function refuseOtherThanChecks(checks: unknown): void {
  if (checks === undefined) return
  const example = 'Write { queue: async () => { await queue.ping() } }.'
  if (typeof checks !== 'object' || checks === null || Array.isArray(checks))
    throw new BootError(`${WHERE}.checks is ${shown(checks)}. ${example}`)
  for (const [name, check] of Object.entries(checks))
    if (typeof check !== 'function') throw new BootError(`${WHERE}.checks.${name} is ${shown(check)}. ${example}`)
}

const DEFAULTS = { livez: '/livez', readyz: '/readyz' } as const

/** Undefined for an app without health checks. */
export function healthSettings(health: boolean | HealthOptions | undefined): HealthSettings | undefined {
  if (health === undefined || health === false) return undefined
  const { livez, readyz, timeout, checks, documented } = health === true ? {} : health
  return {
    livez: livez ?? DEFAULTS.livez,
    readyz: readyz ?? DEFAULTS.readyz,
    timeout: timeout ?? 1_000,
    checks: checks ?? {},
    documented: documented ?? false,
  }
}
