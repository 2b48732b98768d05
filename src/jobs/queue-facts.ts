import type { QueueFacts } from '../core/events/queues.js'
import type { JobDatabase } from './job-database.js'

/** Reads how many jobs of each queue are due, and since when the oldest is, by one statement. @param names also of queues that are empty. */
export async function readQueues(database: JobDatabase, names: readonly string[]): Promise<readonly QueueFacts[]> {
  const rows = await database.read(database.statements.dueByQueue(names))
  const found = rows.map(({ queue, ready, due, now }) => ({
    name: queue,
    ready: Number(ready),
    age: Math.max(0, Number(now) - Number(due)),
  }))
  const empty = names.filter((name) => !found.some((queue) => queue.name === name))
  return [...found, ...empty.map((name) => ({ name, ready: 0, age: 0 }))]
}
