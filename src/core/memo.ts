import { createRequire } from 'node:module'

/** Computes a value at the first call, not before: declarations may refer to themselves. */
export function memo<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** A function that computes a value once for each object. */
export function memoFor<K extends object, V>(make: (object: K) => V): (object: K) => V {
  const known = new WeakMap<K, V>()
  return (object) => {
    const found = known.get(object)
    if (found !== undefined || known.has(object)) return found as V // it has one, which may be undefined
    const made = make(object)
    known.set(object, made)
    return made
  }
}

const require = createRequire(import.meta.url)

/**
 * Loads a CommonJS package at the first call: what most programs do not need, or not before their first request, delays no start.
 *
 * @example
 * const ajv = loadLater<typeof import('ajv/dist/2020.js')>('ajv/dist/2020.js')
 */
export function loadLater<T>(name: string): () => T {
  return memo(() => require(name) as T) // require() has no types
}
