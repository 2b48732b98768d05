import type { QueueFacts } from '../core/events/queues.js'
import type { JobDatabase } from './job-database.js'

/**
 * Reads how many jobs of each queue are due, and since when the oldest is.
 *
 * @param names also of queues that are empty. Queues with ready jobs are found in any case, up to a limit: no process may work on them.
 */
export async function readQueues(database: JobDatabase, names: readonly string[]): Promise<readonly QueueFacts[]> {
  const { statements } = database
  const ready = await database.read(statements.readyQueues())
  const queues = [...new Set([...names, ...ready.map(({ queue }) => queue)])]
  const rows = await database.read(statements.dueByQueue(queues))
  const found = rows.map(({ queue, ready: count, due, now }) => ({
    name: queue,
    ready: Number(count),
    age: Math.max(0, Number(now) - Number(due)),
  }))
  const empty = names.filter((name) => !found.some((queue) => queue.name === name))
  return [...found, ...empty.map((name) => ({ name, ready: 0, age: 0 }))]
}
