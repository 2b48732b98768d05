/** A value made when it is first asked for: declarations may refer to themselves. */
export function memo<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined
  return () => (made ??= { value: make() }).value
}
