import type { WorkerRow } from './statements.js'
import { MOST_WORKERS } from './statements.js'
import { parseWork } from '../work-text.js'

/** How many processes work on a queue; undefined if that is not known. */
export type WorkersOfQueue = (queue: string) => number | undefined

/** @param rows all that the database has. */
export function workersOf(rows: readonly WorkerRow[]): WorkersOfQueue {
  const valid = rows.filter(({ is_valid }) => Number(is_valid) === 1)
  const works = valid.map(({ queues }) => (queues === null ? undefined : parseWork(queues)))
  const isKnown = rows.length < MOST_WORKERS && !works.includes(undefined)
  return (queue) => {
    const n = works.filter((work) => work?.some((one) => one.queue === queue)).length
    return n > 0 || isKnown ? n : undefined
  }
}
