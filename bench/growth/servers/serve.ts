import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** What a server reports when it listens. */
export interface Ready {
  readonly port: number
  /** Milliseconds of CPU since the process has begun to run this program. */
  readonly start: number
}

const begun = process.cpuUsage()

/** The numbers and texts that a server is started with. */
export const parameters: readonly string[] = process.argv.slice(2)

const MINUTES = 120_000

/** A busy machine is slow, which is no failure. */
export const patient = {
  database: { poolTimeout: MINUTES, statementTimeout: MINUTES },
  app: { logger: false, timeouts: { handler: MINUTES } },
} as const

/** Reports the port. Then it collects garbage when it is asked to, and ends with the process that has started it. */
export function report(port: number): void {
  const { user, system } = process.cpuUsage(begun)
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  process.on('disconnect', () => process.exit())
  process.on('message', () => {
    // Twice: the first collection may only finish one that is under way.
    setTimeout(() => (collect(), collect(), process.send?.('collected')), 300)
  })
  process.send?.({ port, start: (user + system) / 1000 } satisfies Ready)
}
