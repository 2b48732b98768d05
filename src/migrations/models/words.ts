import { Utils } from 'sequelize'

/** `OrderItems`, `order_items`, `ORDER-ITEMS` -> `['order', 'items']`; what is no letter and no digit separates. */
export function wordsOf(name: string): string[] {
  const separated = name
    .normalize('NFC')
    .replaceAll(/(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/gu, ' ')
    .toLowerCase()
  return separated.split(/[^\p{L}\p{N}]/u).filter((word) => word !== '')
}

/** `['order', 'items']` -> `orderItems` */
export function camel(words: readonly string[]): string {
  return words.map((word, index) => (index === 0 ? word : capitalized(word))).join('')
}

/** `['order', 'item']` -> `OrderItem` */
export function pascal(words: readonly string[]): string {
  return words.map(capitalized).join('')
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1)
}

// Words that English inflects by other rules than the rest, or not at all.
const UNCHANGED: ReadonlySet<string> = new Set(['data', 'media', 'metadata', 'news', 'series', 'species', 'staff'])

/** The words with the last one in the singular: `order items` -> `order item`. */
export function singular(words: readonly string[]): string[] {
  return withLast(words, Utils.singularize)
}

/** The words with the last one in the plural. */
export function plural(words: readonly string[]): string[] {
  return withLast(words, (word) => PLURALS.get(word) ?? Utils.pluralize(word))
}

// Sequelize writes `heros`.
const PLURALS: ReadonlyMap<string, string> = new Map([
  ['echo', 'echoes'],
  ['hero', 'heroes'],
  ['veto', 'vetoes'],
])

function withLast(words: readonly string[], change: (word: string) => string): string[] {
  const last = words.at(-1)
  return last === undefined || UNCHANGED.has(last) ? [...words] : [...words.slice(0, -1), change(last)]
}

/** The name of the column that Sequelize derives from a property with `underscored`: `orderId` -> `order_id`. */
export function underscored(property: string): string {
  return Utils.underscoredIf(property, true)
}
