import { AsyncResource } from 'node:async_hooks'
import { EventEmitter, on } from 'node:events'
import { Transform } from 'node:stream'
import { MessageChannel } from 'node:worker_threads'

/*
 * Ways of running work later that requests share. Of libraries, what matters: in whose asynchronous context they start the work of a request.
 */

export type Work = () => Promise<unknown>
/** Runs the work of a request; resolves to its result. */
export type Run = (work: Work) => Promise<unknown>

interface Job {
  readonly work: Work
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

function deferred(work: Work, add: (job: Job) => void): Promise<unknown> {
  return new Promise((resolve, reject) => add({ work, resolve, reject }))
}

/** p-queue with concurrency 1, p-limit before 4, and generators that run jobs in turn: whoever ends a job starts the next one. */
export function queue(): Run {
  const waiting: Job[] = []
  let isBusy = false
  const next = async (): Promise<void> => {
    const job = waiting.shift()
    if (!job) return void (isBusy = false)
    isBusy = true
    try {
      job.resolve(await job.work())
    } catch (error) {
      job.reject(error)
    } finally {
      void next()
    }
  }
  return (work) => deferred(work, (job) => (waiting.push(job), isBusy || void next()))
}

/** async.queue, and fastq: the callback of a task releases its worker, which takes the next task. */
export function callbackQueue(): Run {
  const waiting: Job[] = []
  let isBusy = false
  const release = () => {
    const job = waiting.shift()
    isBusy = job !== undefined
    if (job) job.work().then(job.resolve, job.reject).finally(release)
  }
  return (work) => deferred(work, (job) => (waiting.push(job), isBusy || release()))
}

/** p-limit since 4, which binds the work to the caller. */
export function limit(): Run {
  const run = queue()
  return (work) => run(AsyncResource.bind(work))
}

/** DataLoader at module level: the first load of a batch starts what runs for all of them. */
export function loader(): Run {
  let batch: Job[] = []
  const dispatch = () => {
    const jobs = batch
    batch = []
    for (const { work, resolve, reject } of jobs) work().then(resolve, reject)
  }
  return (work) =>
    deferred(work, (job) => {
      batch.push(job)
      if (batch.length === 2) FIRST.get(batch)?.()
      else FIRST.set(batch, AsyncResource.bind(dispatch))
    })
}

/** How the context of the first load of a batch goes on. */
const FIRST = new WeakMap<object, () => void>()

/** Listeners run in the context of the code that emits. */
export function emitted(): Run {
  const emitter = new EventEmitter()
  return (work) => deferred(work, (job) => (emitter.once('job', runJob), emitter.emit('job', job)))
}

/** The first request runs its work, and then emits what the second one waits for. */
export function listeners(): Run {
  const emitter = new EventEmitter()
  return async (work) => {
    if (emitter.listenerCount('free') === 0 && !claimed.has(emitter)) {
      claimed.add(emitter)
      const value = await work()
      emitter.emit('free')
      return value
    }
    return deferred(work, (job) => emitter.once('free', () => runJob(job)))
  }
}

const claimed = new WeakSet<object>()

function runJob({ work, resolve, reject }: Job): void {
  work().then(resolve, reject)
}

/** A stream of objects: each is transformed when the one before it is done. */
export function stream(): Run {
  const jobs = new Transform({
    objectMode: true,
    transform({ work, resolve, reject }: Job, _encoding, done) {
      work().then(resolve, reject).finally(done)
    },
  }).resume()
  return (work) => deferred(work, (job) => jobs.write(job))
}

/** A timer that the first request starts, and that runs the work of all. */
export function interval(): Run {
  const waiting: Job[] = []
  let timer: NodeJS.Timeout | undefined
  const tick = () => waiting.splice(0).forEach(runJob)
  return (work) => deferred(work, (job) => (waiting.push(job), (timer ??= setInterval(tick, 1).unref())))
}

/** The answer of a worker is awaited, and the work goes on. */
export function worker(): Run {
  const { port1, port2 } = new MessageChannel()
  const waiting = new Map<number, () => void>()
  port2.on('message', (id: number) => port2.postMessage(id))
  port1.on('message', (id: number) => waiting.get(id)?.())
  port1.unref()
  port2.unref()
  let count = 0
  return async (work) => {
    const id = ++count
    await new Promise<void>((resolve) => (waiting.set(id, resolve), port1.postMessage(id)))
    return work()
  }
}

/** A cache of promises: the second request gets the result of the first one. */
export function cache(): Run {
  let kept: Promise<unknown> | undefined
  return (work) => (kept ??= work())
}

/** generic-pool with one resource, and mutexes: the code of a request goes on when another one has released. */
export function pool(): Run {
  const waiting: (() => void)[] = []
  let isTaken = false
  return async (work) => {
    if (isTaken) await new Promise<void>((resolve) => waiting.push(resolve))
    isTaken = true
    try {
      return await work()
    } finally {
      isTaken = waiting.length > 0
      waiting.shift()?.()
    }
  }
}

/** Each request awaits an event of its own with events.on(). */
export function eventsOn(): Run {
  const emitter = new EventEmitter()
  return async (work) => {
    setImmediate(() => emitter.emit('go'))
    for await (const _ of on(emitter, 'go')) break
    return work()
  }
}

/** A list that an async generator of the first request reads for all. */
export function iterator(): Run {
  const waiting: Job[] = []
  let isRead = false
  const read = async () => {
    isRead = true
    for await (const job of takeAll(waiting)) await job.work().then(job.resolve, job.reject)
    isRead = false
  }
  return (work) => deferred(work, (job) => (waiting.push(job), isRead || void read()))
}

async function* takeAll(jobs: Job[]): AsyncGenerator<Job> {
  for (let job = jobs.shift(); job; job = jobs.shift()) yield job
}

/** A Subject of RxJS with concatMap(): what a request has passed to next() is subscribed to when the one before it has completed. */
export function subject(): Run {
  const observers = new Set<(job: Job) => void>()
  const run = callbackQueue()
  observers.add(({ work, resolve, reject }) => void run(work).then(resolve, reject))
  return (work) => deferred(work, (job) => observers.forEach((next) => next(job)))
}

/** Timers, ticks and microtasks that each request starts itself. */
export const scheduled = (schedule: (callback: () => void) => unknown) => (): Run => (work) =>
  deferred(work, (job) => schedule(() => runJob(job)))
