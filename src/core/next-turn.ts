/** One or more who wait for their turn of the event loop, and continue together. */
class Wait {
  readonly ended: Promise<void>
  /** Whether the first of them has had its turn: who comes from now on waits with others. */
  isClosed = false
  #count = 0
  #end = () => {}

  constructor() {
    this.ended = new Promise((resolve) => (this.#end = resolve))
  }

  join(): Promise<void> {
    this.#count++
    setImmediate(this.#hadTurn)
    return this.ended
  }

  readonly #hadTurn = () => {
    this.isClosed = true
    if (--this.#count === 0) this.#end()
  }
}

let wait: Wait | undefined

/**
 * Resolves in the next turn of the event loop, after the microtasks and the callbacks of this one.
 *
 * All who wait for the same turn continue together, when each of them has had it. What requests then send is written at once, and a round of microtasks
 * is for all of them: in a loaded process, a request costs up to a fifth less (`bench/README.md`). No one continues before its own callback, which may be
 * in a later turn than that of the first one; because that first one closes the wait, no one waits for longer than one turn more.
 */
export function nextTurn(): Promise<void> {
  if (!wait || wait.isClosed) wait = new Wait()
  return wait.join()
}
