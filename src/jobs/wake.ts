import type { Sequelize } from 'sequelize'

type Waker = () => void

const wakers = new WeakMap<Sequelize, Set<Waker>>()

/** Has the function called when jobs were added to this database. Returns what ends that. */
export function onWake(sequelize: Sequelize, waker: Waker): () => void {
  const all = wakers.get(sequelize) ?? new Set()
  wakers.set(sequelize, all.add(waker))
  return () => void all.delete(waker)
}

/** Jobs were added, and committed. */
export function wake(sequelize: Sequelize): void {
  for (const waker of wakers.get(sequelize) ?? []) waker()
}
