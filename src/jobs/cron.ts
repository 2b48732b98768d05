import type { Cron as Croner } from 'croner'
import { BootError } from '../core/boot-error.js'
import { loadLater } from '../core/memo.js'
import { loadPeer } from '../core/peer.js'
import { messageOf } from '../core/to-error.js'
import type { CronSchedule } from './declaration.js'

const load = loadLater<typeof import('croner')>('croner')

/** The instants of a schedule. */
export interface Instants {
  /** The first one after this time, in milliseconds since 1970 like the result; undefined if there is none. */
  next(after: number): number | undefined
  /** The last one that is not after this time. */
  last(until: number): number | undefined
}

/**
 * @param where for the error: `MailJobs.tidy`.
 * @throws BootError for a wrong expression or time zone, and if croner is not installed.
 */
export function instantsOf({ expression, timezone }: CronSchedule, where: string): Instants {
  const { Cron } = loadPeer(load, 'croner', '@Cron()')
  const schedule = parse(() => new Cron(expression, { timezone, paused: true, mode: '5-or-6-parts' }), where)
  return {
    next: (after) => schedule.nextRun(new Date(after))?.getTime(),
    last: (until) => schedule.previousRuns(1, new Date(until + 1))[0]?.getTime(),
  }
}

function parse(make: () => Croner, where: string): Croner {
  try {
    const schedule = make()
    schedule.nextRun() // reads the time zone
    return schedule
  } catch (error) {
    throw new BootError(
      `${where}: @Cron() cannot read its expression, or its timezone: ${messageOf(error)}. Write minute, hour, day, month and weekday, as in '0 3 * * *', and a zone such as 'Europe/Berlin'.`,
    )
  }
}
