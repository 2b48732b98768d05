/** Whether a value is an object, and no list. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Whether a value is an object of no class, as `{}` and JSON.parse() make it. */
export function isPlainRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  if (!isRecord(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Whether a value is an object as `{ ... }` makes it, with strings as its keys. */
export function isObjectLiteral(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false
  return Object.getOwnPropertySymbols(value).length === 0
}

type Defined<T> = { readonly [Key in keyof T]?: Exclude<T[Key], undefined> }

/** The object without the properties that are undefined: spread over others, they would replace them. */
export function defined<T extends object>(object: T): Defined<T> {
  const given: Record<string, unknown> = {}
  for (const name in object) if (object[name] !== undefined) given[name] = object[name]
  return given as Defined<T>
}

/** The items in lists of at most so many. */
export function chunksOf<T>(items: readonly T[], most: number): readonly (readonly T[])[] {
  const chunks: T[][] = []
  for (let from = 0; from < items.length; from += most) chunks.push(items.slice(from, from + most))
  return chunks
}

/** The items by a key of each, in their order. */
export function groupedBy<T, K>(items: Iterable<T>, keyOf: (item: T) => K): ReadonlyMap<K, readonly T[]> {
  const groups = new Map<K, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    const group = groups.get(key)
    if (group) group.push(item)
    else groups.set(key, [item])
  }
  return groups
}
