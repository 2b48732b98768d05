/** Computes a value at the first call, not before: declarations may refer to themselves. */
export function memo<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
