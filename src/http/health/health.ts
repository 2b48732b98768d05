import { BootError } from '../../core/boot-error.js'
import { MethodNotAllowed } from '../errors.js'
import type { Lifespan } from '../lifespan.js'
import type { OutgoingResponse } from '../output/outgoing-response.js'
import { openApiPath } from '../routing/path.js'
import type { Routable } from '../routing/router.js'
import type { HealthSettings } from './health-options.js'
import { Readiness, type ReadinessLog, type Report } from './readiness.js'

/** The body of both checks. */
export interface HealthBody {
  /** `closing` from the moment at which the app begins to close. */
  readonly status: 'ok' | 'unavailable' | 'closing'
  readonly checks?: Report['checks']
  readonly keys?: Report['keys']
}

/** Answers the checks of an orchestrator or a balancer, before middleware and routes. */
export class Health {
  /** By path, with and without a slash at the end, which routes ignore, too. */
  readonly #checks: ReadonlyMap<string, 'livez' | 'readyz'>
  readonly #readiness: Readiness
  #isClosing = false

  /** @throws BootError when a route has one of the paths. */
  constructor(
    settings: HealthSettings,
    lifespans: readonly Lifespan[],
    log: ReadinessLog,
    routes: readonly Routable[],
  ) {
    for (const route of routes) refuseTaken(settings, route)
    const { livez, readyz } = settings
    this.#checks = new Map([
      [livez, 'livez'],
      [`${livez}/`, 'livez'],
      [readyz, 'readyz'],
      [`${readyz}/`, 'readyz'],
    ])
    this.#readiness = new Readiness(lifespans, settings, log)
  }

  /**
   * The response for the path of a check; undefined for other paths.
   *
   * @param start resolves when the app is started. A process that is not started yet is alive.
   * @throws MethodNotAllowed.
   */
  answer(
    method: string,
    path: string,
    start: () => Promise<void>,
  ): OutgoingResponse | Promise<OutgoingResponse> | undefined {
    const check = this.#checks.get(path)
    if (check === undefined) return undefined
    const headers = { allow: 'GET, HEAD, OPTIONS' }
    if (method === 'OPTIONS') return { status: 204, headers }
    if (method !== 'GET' && method !== 'HEAD')
      throw new MethodNotAllowed(`This address does not support ${method}.`, { headers })
    return check === 'livez' ? respond(200, { status: 'ok' }) : this.#ready(start)
  }

  async #ready(start: () => Promise<void>): Promise<OutgoingResponse> {
    const report = this.#isClosing ? undefined : await this.#readiness.report(start)
    if (report === undefined || this.#isClosing) return respond(503, { status: 'closing' })
    const { isReady, ...details } = report
    return isReady ? respond(200, { status: 'ok', ...details }) : respond(503, { status: 'unavailable', ...details })
  }

  /** From now on the app is alive, but not ready. */
  close(): void {
    this.#isClosing = true
  }
}

function respond(status: number, body: HealthBody): OutgoingResponse {
  const headers = { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' }
  return { status, headers, body: JSON.stringify(body) }
}

function refuseTaken({ livez, readyz }: HealthSettings, { name, segments }: Routable): void {
  const path = openApiPath(segments)
  if (path !== livez && path !== readyz) return
  const option = path === livez ? 'livez' : 'readyz'
  throw new BootError(
    `${name} has the path ${path}, which belongs to a health check. Choose another path, or write createApp({ health: { ${option}: '${path}-check' } }).`,
  )
}
