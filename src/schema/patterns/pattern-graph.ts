import { type AnalysisBudget, PatternTooLarge } from './analysis-budget.js'
import { ANY, characterSets, type Characters } from './character-sets.js'
import { canBeEmpty, effortOf, geometricSum, isFixed, longest, MAX_WAYS, power, sizeOf } from './pattern-measures.js'
import type { Pattern } from './pattern-syntax.js'

/*
 * A pattern as a graph (a position automaton, or Glushkov automaton): one position for each character of the pattern, and an edge to each
 * position whose character may come next. The engine's ways through an input are paths in the graph.
 */

export interface PatternGraph {
  /** By position: the characters that match there. */
  readonly characters: readonly Characters[]
  readonly sources: readonly string[]
  /** By position: the positions that may come next, with the number of ways to get there. */
  readonly next: readonly Positions[]
  /** The positions where the pattern can begin. */
  readonly first: Positions
  /** Whether a lookbehind of any length reads the input again. */
  readonly readsBack: boolean
}

type Positions = ReadonlyMap<number, number>

/** A part of the pattern: the positions where it can begin and end, and the number of ways in which it matches the empty string. */
interface Fragment {
  readonly first: Positions
  readonly last: Positions
  readonly empty: number
}

const NONE: Positions = new Map()
const NOTHING: Fragment = { first: NONE, last: NONE, empty: 1 }
/** The longest repetition that is written out in the graph. A longer one is treated as unbounded. */
const MAX_COPIES = 64
/** The most repetitions of a lookbehind that are followed, one after the other. */
const MAX_LOOPS = 6

/** @param isSearched Whether a match may begin anywhere in the input. */
export function graphOf(pattern: Pattern, flags: string, isSearched: boolean, budget: AnalysisBudget): PatternGraph {
  const builder = new GraphBuilder(budget)
  const search = isSearched ? builder.anything() : NOTHING
  // At the end of the pattern an assertion, such as `$`, may fail for each way to get there.
  const { first } = builder.join(builder.join(search, builder.fragment(pattern)), builder.deadEnd(1))
  const { next, sources, readsBack } = builder
  return { next, sources, first, readsBack, characters: characterSets(sources, flags) }
}

class GraphBuilder {
  readonly sources: string[] = []
  readonly next: Map<number, number>[] = []
  readsBack = false
  readonly #budget: AnalysisBudget

  constructor(budget: AnalysisBudget) {
    this.#budget = budget
  }

  fragment(pattern: Pattern): Fragment {
    switch (pattern.kind) {
      case 'character':
        return this.#position(pattern.source)
      case 'sequence':
        return pattern.parts.map((part) => this.fragment(part)).reduce((all, part) => this.join(all, part), NOTHING)
      case 'choice':
        return pattern.parts.map((part) => this.fragment(part)).reduce(either)
      case 'repeat':
        return this.#repeat(pattern)
      case 'lookahead': // matched, and then the engine continues from where it began
        return { ...this.join(this.fragment(pattern.part), this.deadEnd(1)), last: NONE, empty: 1 }
      case 'lookbehind':
        return this.#lookbehind(pattern.part)
      case 'strings':
        return this.anything()
      default:
        return NOTHING
    }
  }

  /** Any number of any characters. */
  anything(): Fragment {
    return this.#loop(this.#position(ANY), 0, Infinity)
  }

  /** A part that is tried in some ways, and always fails. */
  deadEnd(ways: number): Fragment {
    return { first: times(this.#position(ANY).first, ways), last: NONE, empty: 0 }
  }

  join(before: Fragment, after: Fragment): Fragment {
    this.#connect(before.last, after.first)
    return {
      first: sum(before.first, times(after.first, before.empty)),
      last: sum(after.last, times(before.last, after.empty)),
      empty: Math.min(before.empty * after.empty, MAX_WAYS),
    }
  }

  #position(source: string): Fragment {
    this.#budget.spend()
    const position = this.sources.push(source) - 1
    this.next.push(new Map())
    return { first: new Map([[position, 1]]), last: new Map([[position, 1]]), empty: 0 }
  }

  #connect(from: Positions, to: Positions): void {
    this.#budget.spend(from.size * to.size)
    for (const [one, ways] of from)
      for (const [other, others] of to) {
        const edges = this.next[one] as Map<number, number> // every position has a map of edges, added with it
        edges.set(other, Math.min((edges.get(other) ?? 0) + ways * others, MAX_WAYS))
      }
  }

  // A lookbehind matches the characters before it, which the graph does not follow: any characters are assumed.
  #lookbehind(part: Pattern): Fragment {
    const { ways, loops } = effortOf(part)
    const { first } = this.join(this.#loops(loops), this.deadEnd(1))
    if (loops > 0) this.readsBack = true
    return { first: times(first, ways), last: NONE, empty: 1 }
  }

  #loops(count: number): Fragment {
    if (count > MAX_LOOPS && count < Infinity) throw new PatternTooLarge() // as one loop they would have fewer ways for a short input
    if (count === Infinity) return this.#loop(either(this.#position(ANY), this.#position(ANY)), 0, Infinity)
    return Array.from({ length: count }, () => this.anything()).reduce((all, loop) => this.join(all, loop), NOTHING)
  }

  #repeat({ part, least, most }: Pattern & { kind: 'repeat' }): Fragment {
    if (most === 0) return NOTHING
    // Copies are exact. A loop overestimates: it has more ways than any number of copies.
    return isCopied(part, least, most) ? this.#copies(part, least, most) : this.#loop(this.fragment(part), least, most)
  }

  // The engine tries each choice of which of the first `least` rounds match the empty string; from then on, no round may.
  #loop(body: Fragment, least: number, most: number): Fragment {
    const { first, last } = this.#filled(body)
    const skips = geometricSum(body.empty, least - 1)
    this.#connect(last, times(first, skips))
    return {
      first: times(first, most > least ? geometricSum(body.empty, least) : skips),
      last: times(last, Math.max(1, power(body.empty, least - 1))),
      empty: power(body.empty, least),
    }
  }

  #copies(part: Pattern, least: number, most: number): Fragment {
    let all = NOTHING
    for (let copy = most; copy > 0; copy--) {
      const body = this.fragment(part)
      all = copy > least ? { ...this.join(this.#filled(body), all), empty: 1 } : this.join(body, all)
    }
    return all
  }

  /** A round that must not match the empty string. The ways in which it would are tried, and fail. */
  #filled(body: Fragment): Fragment {
    const rejected = body.empty > 1 ? this.deadEnd(body.empty).first : NONE
    return { ...body, first: sum(body.first, rejected), empty: 0 }
  }
}

// Parts of variable length are not copied: their copies have as many ways as a loop, and need more positions. But if a part can be empty, a
// loop has far more ways.
function isCopied(part: Pattern, least: number, most: number): boolean {
  if (most === 1) return true
  if (most > MAX_COPIES) return false
  if (part.kind === 'character') return true
  if (least === most && longest(part) * most <= MAX_COPIES && isFixed(part)) return true
  return least > 1 && canBeEmpty(part) && sizeOf(part) * most <= MAX_COPIES
}

function either(one: Fragment, other: Fragment): Fragment {
  return {
    first: sum(one.first, other.first),
    last: sum(one.last, other.last),
    empty: Math.min(one.empty + other.empty, MAX_WAYS),
  }
}

function sum(positions: Positions, more: Positions): Positions {
  const all = new Map(positions)
  for (const [position, ways] of more) all.set(position, Math.min((all.get(position) ?? 0) + ways, MAX_WAYS))
  return all
}

function times(positions: Positions, ways: number): Positions {
  if (ways === 0) return NONE
  return new Map([...positions].map(([position, others]) => [position, Math.min(others * ways, MAX_WAYS)]))
}
