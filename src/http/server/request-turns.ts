import { AsyncResource } from 'node:async_hooks'

/**
 * Starts requests so that new connections are accepted between them. Node accepts one connection in each turn of the event loop, and would run
 * all requests that have arrived in the same turn: connections would wait as long as all of these take.
 */
export class RequestTurns {
  #waiting: (() => unknown)[] = []
  #accepted = false
  /** Whether clients are connecting: a request has to wait. */
  isTaken = false

  /** Called for each connection that is accepted. */
  accepted(): void {
    this.#accepted = true
    this.#schedule()
  }

  /** Starts a request as the only one of its turn. */
  wait(request: () => unknown): void {
    // In its own asynchronous context: a tool that observes the process may have made one for the request.
    this.#waiting.push(AsyncResource.bind(request))
  }

  #schedule(): void {
    if (this.isTaken) return
    this.isTaken = true
    setImmediate(() => this.#endTurn())
  }

  #endTurn(): void {
    const ready = this.#waiting.splice(0, this.#accepted ? 1 : Infinity)
    this.isTaken = false
    if (this.#accepted) this.#schedule()
    this.#accepted = false
    for (const start of ready) start()
  }
}
