import type { Sequelize } from 'sequelize'

type Waker<T> = (what: T) => void

/** Tells those who wait in this process that something was committed to a database. */
export class Waking<T = void> {
  readonly #wakers = new WeakMap<Sequelize, Set<Waker<T>>>()

  /** Has the function called for what is committed to this database. Returns what ends that. */
  on(sequelize: Sequelize, waker: Waker<T>): () => void {
    const all = this.#wakers.get(sequelize) ?? new Set()
    this.#wakers.set(sequelize, all.add(waker))
    return () => void all.delete(waker)
  }

  wake(sequelize: Sequelize, what: T): void {
    for (const waker of this.#wakers.get(sequelize) ?? []) waker(what)
  }
}
