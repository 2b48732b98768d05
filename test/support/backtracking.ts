import { parsePattern, type Pattern } from '../../src/schema/patterns/pattern-syntax.js'

/*
 * A backtracking regular expression engine without optimisations, which counts the characters that it reads: tests of patternCost()
 * compare its steps with the computed cost.
 */

export interface Attempt {
  readonly matches: boolean
  /** The number of characters read; `most` if the search was stopped. */
  readonly steps: number
}

class TooLong extends Error {}

/** Searches `text` for a pattern without back references and lookbehinds. */
export function attempt(expression: RegExp, text: string, most = 200_000): Attempt {
  const search = new Search(text, expression.flags, most)
  try {
    return { matches: search.finds(parsePattern(expression)), steps: search.steps }
  } catch (error) {
    if (error instanceof TooLong) return { matches: false, steps: most }
    throw error
  }
}

type Next = (at: number) => boolean

class Search {
  steps = 0
  readonly #text: string
  readonly #flags: string
  readonly #most: number
  readonly #characters = new Map<string, RegExp>()

  constructor(text: string, flags: string, most: number) {
    this.#text = text
    this.#flags = flags
    this.#most = most
  }

  finds(pattern: Pattern): boolean {
    for (let start = 0; start <= this.#text.length; start++) if (this.#match(pattern, start, () => true)) return true
    return false
  }

  #match(pattern: Pattern, at: number, next: Next): boolean {
    switch (pattern.kind) {
      case 'character':
        return this.#isCharacter(pattern.source, at) && next(at + 1)
      case 'sequence':
        return this.#sequence(pattern.parts, 0, at, next)
      case 'choice':
        return pattern.parts.some((part) => this.#match(part, at, next))
      case 'repeat':
        return this.#repeat(pattern, 0, at, next)
      case 'lookahead':
        return this.#match(pattern.part, at, () => true) && next(at)
      case 'start':
        return at === 0 && next(at)
      case 'end':
        return at === this.#text.length && next(at)
      default:
        throw new Error(`A pattern with a ${pattern.kind} is not supported.`)
    }
  }

  #sequence(parts: readonly Pattern[], index: number, at: number, next: Next): boolean {
    const part = parts[index]
    return part ? this.#match(part, at, (after) => this.#sequence(parts, index + 1, after, next)) : next(at)
  }

  #repeat(pattern: Pattern & { kind: 'repeat' }, count: number, at: number, next: Next): boolean {
    const { part, least, most } = pattern
    const again = (after: number) => (after > at || count < least) && this.#repeat(pattern, count + 1, after, next)
    return (count < most && this.#match(part, at, again)) || (count >= least && next(at))
  }

  #isCharacter(source: string, at: number): boolean {
    if (++this.steps > this.#most) throw new TooLong()
    const character = this.#text[at]
    const known = this.#characters.get(source) ?? new RegExp(`^(?:${source})$`, this.#flags)
    this.#characters.set(source, known)
    return character !== undefined && known.test(character)
  }
}
