/** The most values that one label of a metric takes. Metrics keep a series for each combination of labels until the process ends. */
const MAX_VALUES = 500

/** Keeps a label bounded: after so many different values, the further ones are `other`. */
export class BoundedLabel {
  readonly #known = new Set<string>()

  of(value: string): string {
    if (this.#known.has(value)) return value
    if (this.#known.size >= MAX_VALUES) return 'other'
    this.#known.add(value)
    return value
  }
}
