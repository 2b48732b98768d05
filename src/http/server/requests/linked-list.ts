/** A place in a {@link LinkedList}. */
export class Link<T> {
  readonly value: T
  /** @internal */ previous: Link<T> | undefined
  /** @internal */ next: Link<T> | undefined

  constructor(value: T) {
    this.value = value
  }
}

/**
 * Values in the order in which they were added. For those that come and go with every request: a Set that they pass through makes a new table
 * again and again, to which the last one refers, so that what was in the tables is kept until the next collection of the old space.
 */
export class LinkedList<T> implements Iterable<T> {
  #first: Link<T> | undefined
  #last: Link<T> | undefined
  #size = 0

  get size(): number {
    return this.#size
  }

  add(value: T): Link<T> {
    const link = new Link(value)
    link.previous = this.#last
    if (this.#last) this.#last.next = link
    else this.#first = link
    this.#last = link
    this.#size++
    return link
  }

  /** Whether the link was in the list until now. */
  delete(link: Link<T>): boolean {
    const { previous, next } = link
    if (!previous && this.#first !== link) return false
    if (previous) previous.next = next
    else this.#first = next
    if (next) next.previous = previous
    else this.#last = previous
    link.previous = undefined
    link.next = undefined
    this.#size--
    return true
  }

  get first(): Link<T> | undefined {
    return this.#first
  }

  /** The values that are in the list now. */
  *[Symbol.iterator](): Iterator<T> {
    const values: T[] = []
    for (let link = this.#first; link; link = link.next) values.push(link.value)
    yield* values
  }
}
