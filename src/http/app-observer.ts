/** An app, as far as the command line needs it. */
export interface Describable {
  openapi(): object
}

/** Receives the apps of a process instead of having them listen: the command line, which prints their OpenAPI documents. */
export interface AppObserver {
  created(app: Describable): void
  listens(app: Describable): void
}

// Global, because the program may load another copy of this package than the one that the command line belongs to.
const KEY = Symbol.for('sequitur/appObserver')

export function appObserver(): AppObserver | undefined {
  return Reflect.get(globalThis, KEY)
}

export function setAppObserver(observer: AppObserver): void {
  Reflect.set(globalThis, KEY, observer)
}
