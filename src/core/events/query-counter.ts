import { programLocation } from './program-location.js'

/** The limits of the statements of one request, or job. */
export interface QueryLimits {
  /** The most statements. */
  readonly statements: number
  /** The same read, sent this many times, exceeds the limit. */
  readonly repeats: number
}

export const UNLIMITED: QueryLimits = { statements: Infinity, repeats: Infinity }

/** How the statements of a request, or a job, exceeded their limits. */
export interface Excess {
  /** `statements`: too many of them. `repeats`: the same read was sent again and again. */
  readonly kind: 'statements' | 'repeats'
  readonly count: number
  readonly limit: number
  /** The shape of the read that was repeated. */
  readonly shape: string | undefined
  /** Where the program sends the statement that exceeds the limit: `src/heros.ts:12:20`. Undefined if no frame of the stack is in the program. */
  readonly location: string | undefined
}

interface Read {
  count: number
  /** The location of the statement that reached the limit. */
  location: string | undefined
}

/** Counts the statements of one run of a handler by their shape. */
export class QueryCounter {
  limits: QueryLimits = UNLIMITED
  /** Whether there are {@link excesses}. */
  isExceeded = false
  #total = 0
  #location: string | undefined
  #reads: Map<string, Read> | undefined

  /** Counts a statement that is sent. Call it in the stack of the program that sends it. */
  add(shape: string, isRead: boolean): void {
    if (++this.#total === this.limits.statements + 1) this.#location = this.#exceed()
    if (!isRead) return
    this.#reads ??= new Map()
    const read = this.#reads.get(shape) ?? { count: 0, location: undefined }
    this.#reads.set(shape, read)
    if (++read.count === this.limits.repeats) read.location = this.#exceed()
  }

  #exceed(): string | undefined {
    this.isExceeded = true
    return programLocation()
  }

  /** How many times the most frequent read was sent. */
  get repeated(): number {
    let most = 0
    for (const { count } of this.#reads?.values() ?? []) most = Math.max(most, count)
    return most
  }

  /** The handler runs again. */
  clear(): void {
    this.isExceeded = false
    this.#total = 0
    this.#location = undefined
    this.#reads = undefined
  }

  get excesses(): readonly Excess[] {
    const { statements, repeats } = this.limits
    const excesses: Excess[] = []
    if (this.#total > statements)
      excesses.push({
        kind: 'statements',
        count: this.#total,
        limit: statements,
        shape: undefined,
        location: this.#location,
      })
    for (const [shape, { count, location }] of this.#reads ?? [])
      if (count >= repeats) excesses.push({ kind: 'repeats', count, limit: repeats, shape, location })
    return excesses
  }
}
