/** A queue of jobs at this moment. */
export interface QueueFacts {
  readonly name: string
  /** How many jobs are due and wait, up to a limit. */
  readonly ready: number
  /** Milliseconds since the oldest of them was due; 0 if there is none. */
  readonly age: number
}

/** Reads the queues of a database. @throws the error of the database. */
export type ReadQueues = () => Promise<readonly QueueFacts[]>

const readers = new Set<ReadQueues>()

/** The readers of the databases whose jobs this process knows. */
export function queueReaders(): readonly ReadQueues[] {
  return [...readers]
}

/** Adds the queues of an app that is started. Returns what removes them. */
export function addQueues(read: ReadQueues): () => void {
  readers.add(read)
  return () => void readers.delete(read)
}
