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
 * @throws the error of the work; the reason of the signal if the work is given up.
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

/** Resolves in the next turn of the event loop, after the microtasks and the callbacks of this one. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** Calls `use` with the value: at once, unless it has to be waited for. A promise that nothing waits for would cost every request time. */
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
