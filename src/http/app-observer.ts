/** An app, as far as the command line needs it. */
export interface Describable {
  openapi(): object
}

/** Who wants to know of apps instead of having them listen: the command line, which prints their documents. */
export interface AppObserver {
  created(app: Describable): void
  listens(app: Describable): void
}

// The program may load another copy of this package than the command line is of.
const KEY = Symbol.for('sequitur/appObserver')

export function appObserver(): AppObserver | undefined {
  return Reflect.get(globalThis, KEY) as AppObserver | undefined
}

export function setOnlooker(one: AppObserver): void {
  Reflect.set(globalThis, KEY, one)
}
