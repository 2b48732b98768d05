import { types } from 'node:util'

/** Whether the work ends within so many milliseconds. @throws the error of the work, if it fails in time. */
export async function endsWithin(work: Promise<unknown>, milliseconds: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const tooLate = new Promise<false>((resolve) => (timer = setTimeout(resolve, milliseconds, false)))
  try {
    return await Promise.race([work.then(() => true), tooLate])
  } finally {
    clearTimeout(timer)
  }
}

/** How long work may continue after a signal. */
export interface Limit {
  readonly signal: AbortSignal
  /** Milliseconds after the signal. */
  readonly grace: number
}

/**
 * Waits for the work, after the signal for `grace` milliseconds at most.
 *
 * @param late receives what the work resolves to after that.
 * @throws the error of the work; the reason of the signal if the work is abandoned.
 */
export async function unlessGivenUp<T>(
  work: PromiseLike<T>,
  { signal, grace }: Limit,
  late: (value: T) => void = () => {},
): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  let isGivenUp = false
  let wait = () => {}
  const givenUp = new Promise<never>((_, reject) => {
    const giveUp = () => {
      isGivenUp = true
      reject(signal.reason as Error)
    }
    wait = () => void (timer = setTimeout(giveUp, grace))
  })
  if (signal.aborted) wait()
  else signal.addEventListener('abort', wait)
  try {
    return await Promise.race([work, givenUp]) // not work.then(): the stacks of errors would end here
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', wait)
    if (isGivenUp) work.then(late, () => {})
  }
}

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

/** Calls `use` with the value: at once, unless it must be awaited. An unneeded promise would cost every request time. */
export function andThen<T, R>(value: T | PromiseLike<T>, use: (value: T) => R | PromiseLike<R>): R | PromiseLike<R> {
  if (!isThenable(value)) return use(value)
  // The `then()` of another object, or of a subclass, need not return what `use` returns, nor wait for it.
  return Promise.resolve(value).then(use)
}

/** Whether `await` would wait for the value. */
export function isThenable<T>(value: T | PromiseLike<T>): value is PromiseLike<T> {
  return (
    ((typeof value === 'object' && value !== null) || typeof value === 'function') &&
    'then' in value &&
    typeof value.then === 'function'
  )
}

/** The most parts of a value that are searched. */
const MAX_PARTS = 100_000

/**
 * Handles the rejections of the promises in a value that is refused: nothing awaits them, and an error of one would end the process. Calls no getter.
 */
export function ignoreRejections(value: unknown): void {
  const objects = new Set<object>()
  let parts = 0
  const add = (part: unknown) => {
    parts++
    if (typeof part === 'object' && part !== null) objects.add(part)
  }
  add(value)
  for (const object of objects) {
    if (types.isPromise(object)) ignoreRejection(object)
    else if (!types.isProxy(object) && !ArrayBuffer.isView(object))
      for (const part of partsOf(object)) {
        if (parts >= MAX_PARTS) return
        add(part)
      }
  }
}

function* partsOf(object: object): Generator<unknown> {
  // By index: the keys of a long list would be made all at once.
  if (Array.isArray(object)) for (let index = 0; index < object.length; index++) yield valueOf(object, index)
  else for (const name of Object.keys(object)) yield valueOf(object, name)
}

function valueOf(object: object, key: PropertyKey): unknown {
  return Object.getOwnPropertyDescriptor(object, key)?.value
}

function ignoreRejection(promise: Promise<unknown>): void {
  try {
    Promise.prototype.then.call(promise, undefined, () => {}) // a subclass may have a then() of its own
  } catch {
    // Its class makes no other promise.
  }
}

/** Counts what is pending. Cheaper than a set of promises, as waiting for these costs another promise for each. */
export class PendingCounter {
  /** This one, and those that it is a part of. */
  readonly #counters: readonly PendingCounter[]
  #count = 0
  /** Undefined if nothing waits: most counters are never waited for. */
  #waiting: (() => void)[] | undefined

  /** @param whole also counts what this one counts. */
  constructor(whole?: PendingCounter) {
    this.#counters = whole ? [this, ...whole.#counters] : [this]
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  get isSingle(): boolean {
    return this.#count === 1
  }

  enter(): void {
    for (const counter of this.#counters) counter.#count++
  }

  leave(): void {
    for (const counter of this.#counters)
      if (--counter.#count === 0 && counter.#waiting) counter.#wake(counter.#waiting)
  }

  #wake(waiting: readonly (() => void)[]): void {
    this.#waiting = undefined
    for (const resolve of waiting) resolve()
  }

  /** Resolves when nothing is pending. */
  empty(): Promise<void> {
    return this.isEmpty ? Promise.resolve() : new Promise((resolve) => (this.#waiting ??= []).push(resolve))
  }
}
