/** An element of a {@link LinkedList}: its place in the list, which is the only one that it is in. */
export interface Linked<T> {
  previous: T | undefined
  next: T | undefined
}

/**
 * Values in the order in which they were added. For those that come and go with every request: a Set that they pass through makes a new table
 * again and again, to which the last one refers, so that what was in the tables is kept until the next collection of the old space.
 */
export class LinkedList<T extends Linked<T>> implements Iterable<T> {
  first: T | undefined
  size = 0
  #last: T | undefined

  add(value: T): void {
    value.previous = this.#last
    if (this.#last) this.#last.next = value
    else this.first = value
    this.#last = value
    this.size++
  }

  /** Whether the value was in the list until now. */
  delete(value: T): boolean {
    const { previous, next } = value
    if (!previous && this.first !== value) return false
    if (previous) previous.next = next
    else this.first = next
    if (next) next.previous = previous
    else this.#last = previous
    value.previous = undefined
    value.next = undefined
    this.size--
    return true
  }

  /** The values that are in the list now. */
  *[Symbol.iterator](): Iterator<T> {
    const values: T[] = []
    for (let value = this.first; value; value = value.next) values.push(value)
    yield* values
  }
}
