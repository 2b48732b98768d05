/** Not that of a test with a clock of its own: a callback that never runs would hold up all others. */
const inNextTurn = setImmediate

/** A turn of the event loop that is waited for. */
class AwaitedTurn {
  readonly over: Promise<void>
  #waiting = 0
  #end = () => {}

  constructor() {
    this.over = new Promise((resolve) => (this.#end = resolve))
  }

  wait(): Promise<void> {
    this.#waiting++
    inNextTurn(this.#come)
    return this.over
  }

  // Later callers wait for another turn: this one would never end if new ones could always join it.
  readonly #come = () => {
    if (next === this) next = undefined
    if (--this.#waiting === 0) this.#end()
  }
}

let next: AwaitedTurn | undefined

/**
 * Resolves in the next turn of the event loop, after the microtasks and the callbacks of this one.
 *
 * All who wait for the same turn continue together, when each of them has had it. What requests then send is written at once, and a round of microtasks
 * is for all of them: in a loaded process, a request costs up to a fifth less (`bench/README.md`). No one continues before a callback of its own, nor more
 * than one turn after it.
 */
export function nextTurn(): Promise<void> {
  return (next ??= new AwaitedTurn()).wait()
}
