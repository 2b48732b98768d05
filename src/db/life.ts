import { BootError } from '../core/boot-error.js'
import { endsWithin, PendingCounter } from '../core/promises.js'

/** How a resource is opened and closed. */
export interface Resource<T> {
  open(): Promise<T>
  close(opened: T): Promise<void>
  /** Ends what still runs, before the resource of an app is closed. */
  endJobs(): Promise<void>
}

const STILL_USED =
  'withSession() has opened this database without the models of the app, and still runs. Start the app first, or write newLifespan(url, { models }).'

/**
 * Opens a resource once for all of its users: one app, which owns it, and jobs, which run with or without an app. It is closed when neither is
 * left; an app that stops waits for the jobs.
 */
export class Life<T> {
  readonly #resource: Resource<T>
  #opening: Promise<T> | undefined
  /** The resource while it is open. */
  opened: T | undefined
  #closing: Promise<void> | undefined
  #isOwned = false
  #disowning: Promise<void> | undefined
  readonly #jobs = new PendingCounter()

  constructor(resource: Resource<T>) {
    this.#resource = resource
  }

  /**
   * Opens the resource for an app, or takes over what jobs have opened.
   *
   * @param isUsable when it returns false, what jobs have opened is closed after them, and opened again.
   * @param prepare called before the resource is opened for the app.
   * @param maxWait milliseconds to wait for jobs that have opened what is not usable.
   * @throws BootError if another app has it, or if these jobs do not end in time.
   */
  async own(isUsable: (opened: T) => boolean, prepare: () => void, maxWait: number): Promise<void> {
    if (this.#isOwned)
      throw new BootError('This lifespan is already running: an app is started once, and one lifespan serves one app.')
    this.#isOwned = true // before the first await: of two apps that start at once, one has to fail
    try {
      if (this.#disowning) await this.#disowning.catch(() => {}) // the app that closes gets the error
      if (this.#opening) await this.#afterJobsUnless(isUsable, this.#opening, maxWait)
      prepare()
      await this.#open()
    } catch (error) {
      this.#isOwned = false
      throw error
    }
  }

  async #afterJobsUnless(isUsable: (opened: T) => boolean, opening: Promise<T>, maxWait: number): Promise<void> {
    const opened = await opening.catch(() => undefined) // the jobs get the error
    if (opened === undefined || isUsable(opened)) return
    if (!(await endsWithin(this.#jobs.empty(), maxWait))) throw new BootError(STILL_USED)
    await this.#close()
  }

  /** Closes the resource of an app. Jobs that still run after `wait` milliseconds are ended. */
  disown(wait: number): Promise<void> {
    this.#isOwned = false
    return (this.#disowning = this.#end(wait))
  }

  async #end(wait: number): Promise<void> {
    await this.#opening?.catch(() => {}) // own() reports the error
    await endsWithin(this.#jobs.empty(), wait)
    await this.#resource.endJobs()
    await this.#close()
  }

  /** Runs a job while the resource is open. */
  async use<R>(job: () => Promise<R>): Promise<R> {
    this.#jobs.enter()
    try {
      await this.#open()
      return await job()
    } finally {
      this.#jobs.leave()
      if (this.#jobs.isEmpty && !this.#isOwned) await this.#close()
    }
  }

  #open(): Promise<T> {
    return (this.#opening ??= this.#openAfterClose())
  }

  async #openAfterClose(): Promise<T> {
    if (this.#closing) await this.#closing.catch(() => {}) // who closed it gets the error
    try {
      return (this.opened = await this.#resource.open())
    } catch (error) {
      this.#opening = undefined
      throw error
    }
  }

  async #close(): Promise<void> {
    const opened = this.opened
    if (opened === undefined) return this.#closing
    this.#opening = this.opened = undefined
    return (this.#closing = this.#resource.close(opened))
  }
}
