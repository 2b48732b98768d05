import * as channels from '../../core/events/channels.js'
import type { JobRun } from '../../core/events/job-run.js'
import { type QueueFacts, queueReaders, type ReadQueues } from '../../core/events/queues.js'
import { endsWithin } from '../../core/promises.js'
import type { Subscriptions } from '../subscriptions.js'
import type { Instruments } from './instruments.js'

/** Milliseconds that the metrics wait for the queues: less than Prometheus waits for the metrics. */
const MAX_WAIT = 2_000

/** The metrics of jobs. Their names and their queues are those that the program declares. */
export function observeJobs(subscriptions: Subscriptions, instruments: Instruments): void {
  const durations = instruments.jobHistogram(
    'job_duration_seconds',
    'Seconds that a run of a job has taken. The outcome is done, failed (it runs again), dead, lost (another worker has it), stopped (with its worker) or unknown (the connection was lost during COMMIT).',
    ['job', 'outcome'],
  )
  const waits = instruments.jobHistogram(
    'job_wait_seconds',
    'Seconds from the time at which a job was due to its run.',
    ['job', 'queue'],
  )
  const running = new Set<JobRun>()
  instruments.gauge('jobs_running', 'Jobs that run in this process.', ['queue'], (gauge) => {
    for (const { queue } of running) gauge.inc({ queue })
  })
  subscriptions.on(channels.jobStart, (job) => {
    running.add(job)
    waits.observe({ job: job.name, queue: job.queue }, job.waited / 1000)
  })
  subscriptions.on(channels.jobEnd, (job) => {
    running.delete(job)
    durations.observe({ job: job.name, outcome: job.outcome ?? 'unknown' }, job.milliseconds / 1000)
  })
  observeQueues(instruments)
}

/** Read when the metrics are: by one statement for both, in a process that has jobs. Without an answer of the database they have no values. */
function observeQueues(instruments: Instruments): void {
  const queues = new QueueReading()
  const gauge = (name: string, help: string, valueOf: (queue: QueueFacts) => number) =>
    instruments.gauge(name, help, ['queue'], async (metric) => {
      for (const queue of await queues.read()) metric.set({ queue: queue.name }, valueOf(queue))
    })
  gauge(
    'jobs_ready',
    'Jobs that are due and wait for a worker, of all processes; 10,000 stands for more.',
    (queue) => queue.ready,
  )
  gauge('jobs_oldest_due_seconds', 'Seconds since the oldest of them was due.', (queue) => queue.age / 1000)
}

/** Asks each database once for all metrics that are read at a time. */
class QueueReading {
  readonly #running = new Map<ReadQueues, Promise<readonly QueueFacts[]>>()

  async read(): Promise<readonly QueueFacts[]> {
    return (await Promise.all(queueReaders().map((reader) => this.#readInTime(reader)))).flat()
  }

  /** Nothing if it fails, or takes too long: the other metrics are sent. */
  async #readInTime(reader: ReadQueues): Promise<readonly QueueFacts[]> {
    const reading = this.#running.get(reader) ?? this.#begin(reader)
    return (await endsWithin(reading, MAX_WAIT)) ? reading : []
  }

  #begin(reader: ReadQueues): Promise<readonly QueueFacts[]> {
    const reading = reader()
      .catch(() => [])
      .finally(() => this.#running.delete(reader))
    this.#running.set(reader, reading)
    return reading
  }
}
