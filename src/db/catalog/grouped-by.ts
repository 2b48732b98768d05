/** @returns the values of a key, in order; none for a key that no value has. */
export function groupedBy<T>(values: readonly T[], keyOf: (value: T) => string): (key: string) => readonly T[] {
  const groups = new Map<string, T[]>()
  for (const value of values) {
    const group = groups.get(keyOf(value))
    if (group) group.push(value)
    else groups.set(keyOf(value), [value])
  }
  return (key) => groups.get(key) ?? []
}
