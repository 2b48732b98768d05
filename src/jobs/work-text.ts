import type { Work } from '../http/background.js'
import { MAX_QUEUES } from './tables.js'

/** How many jobs of a queue a worker runs at once. */
export interface QueueWork {
  readonly queue: string
  readonly slots: number
}

/** `mail=5,default=10`, for the row of a worker; undefined if it would be too long. */
export function formatWork(work: Work): string | undefined {
  const text = Object.entries(work)
    .map(([queue, slots]) => `${queue}=${slots}`)
    .join(',')
  return text.length > MAX_QUEUES ? undefined : text
}

/** Reads what {@link formatWork} has written. */
export function parseWork(text: string): readonly QueueWork[] {
  return text.split(',').flatMap((part) => {
    const [queue = '', slots] = part.split('=')
    return slots === undefined ? [] : [{ queue, slots: Number(slots) }]
  })
}
