import type { AnalysisBudget } from './analysis-budget.js'
import type { PatternGraph } from './pattern-graph.js'

/*
 * The steps that a backtracking engine needs at most, counted: it reads each character of an input once for every way in which the pattern
 * matches what is before. The counts are followed through all inputs at once, character by character.
 */

/** The number of ways to get to each position with the same input. */
interface Counts {
  readonly ways: Float64Array
  /** Where `ways` is not 0. */
  readonly positions: readonly number[]
}

/** The different counts that are followed. If there are more, they are replaced by one that is at least as large as each of them. */
const MAX_COUNTS = 1000
const MAX_COUNTS_OF_A_LENGTH = 16

/** The most steps for one character of an input, of any length; Infinity for more than `most`. */
export function stepsPerCharacter(graph: PatternGraph, most: number, budget: AnalysisBudget): number {
  const inputs = new Inputs(graph, budget)
  let greatest = inputs.firstSteps
  let known: Counts[] = []
  let open = inputs.ofLengthOne()
  while (open.length > 0 && greatest <= most) {
    const isNew = open.filter((counts) => {
      if (isCovered(counts, known, budget)) return false
      known.push(counts)
      return true
    })
    if (known.length > MAX_COUNTS) known = [union(known)]
    const added = known.length === 1 ? known : isNew
    greatest = Math.max(greatest, inputs.steps(added))
    open = isNew.length > 0 ? inputs.longer(added) : []
  }
  return greatest <= most ? greatest : Infinity
}

/** The length of the longest input that takes at most `steps` steps, up to `most`; Infinity if all take no more. */
export function longestWithin(graph: PatternGraph, steps: number, most: number, budget: AnalysisBudget): number {
  const inputs = new Inputs(graph, budget)
  const limit = graph.readsBack ? 2 * most : most
  let left = steps - inputs.firstSteps
  let open = inputs.ofLengthOne()
  let length = 0
  while (left >= 0 && length < limit) {
    if (open.length === 0) return Infinity
    length++
    const greatest = maximal(open, budget)
    left -= inputs.steps(greatest)
    open = inputs.longer(greatest)
  }
  const longest = left < 0 ? length - 1 : length
  return Math.max(0, graph.readsBack ? Math.floor(longest / 2) : longest)
}

/** Follows the counts through all inputs. */
class Inputs {
  /** The steps before the first character is matched. */
  readonly firstSteps: number
  readonly #graph: PatternGraph
  readonly #budget: AnalysisBudget
  /** By kind of character: the positions that it matches. */
  readonly #matched: readonly (readonly number[])[]
  /** By position: the most ways to one of the positions that may come next. */
  readonly #tries: readonly number[]

  constructor(graph: PatternGraph, budget: AnalysisBudget) {
    const { characters, first, next } = graph
    const kinds = characters.reduce((all, one) => all | one, 0n).toString(2).length
    this.#graph = graph
    this.#budget = budget
    this.#matched = Array.from({ length: kinds }, (_, kind) =>
      [...characters.keys()].filter((position) => ((characters[position] ?? 0n) >> BigInt(kind)) & 1n),
    )
    // What may come next is tried in each of its ways, even if it does not match. How many different positions may come next depends on
    // the pattern alone.
    this.#tries = next.map((edges) => Math.max(1, ...edges.values()))
    this.firstSteps = Math.max(1, ...first.values())
  }

  ofLengthOne(): Counts[] {
    const ways = new Float64Array(this.#graph.next.length)
    for (const [position, count] of this.#graph.first) ways[position] = count
    return this.#matching(ways)
  }

  /** After one more character. */
  longer(all: readonly Counts[]): Counts[] {
    return all.flatMap((counts) => {
      const ways = new Float64Array(this.#graph.next.length)
      for (const position of counts.positions)
        for (const [other, others] of this.#edges(position))
          ways[other] = (ways[other] ?? 0) + (counts.ways[position] ?? 0) * others
      return this.#matching(ways)
    })
  }

  #edges(position: number): ReadonlyMap<number, number> {
    const edges = this.#graph.next[position] as ReadonlyMap<number, number> // every position has a map of edges
    this.#budget.spend(edges.size)
    return edges
  }

  steps(all: readonly Counts[]): number {
    const stepsOf = ({ positions, ways }: Counts) =>
      positions.reduce((sum, position) => sum + (ways[position] ?? 0) * (this.#tries[position] ?? 1), 0)
    return all.reduce((greatest, counts) => Math.max(greatest, stepsOf(counts)), 0)
  }

  #matching(targets: Float64Array): Counts[] {
    return this.#matched.flatMap((matched) => {
      this.#budget.spend(matched.length)
      const positions = matched.filter((position) => targets[position])
      if (positions.length === 0) return []
      const ways = new Float64Array(targets.length)
      for (const position of positions) ways[position] = targets[position] ?? 0
      return [{ ways, positions }]
    })
  }
}

function maximal(all: readonly Counts[], budget: AnalysisBudget): Counts[] {
  const found: Counts[] = []
  for (const counts of all) {
    if (isCovered(counts, found, budget)) continue
    found.push(counts)
    if (found.length > MAX_COUNTS_OF_A_LENGTH) return [union(all)]
  }
  return found
}

function isCovered({ ways, positions }: Counts, others: readonly Counts[], budget: AnalysisBudget): boolean {
  budget.spend(others.length)
  return others.some((other) => positions.every((position) => (other.ways[position] ?? 0) >= (ways[position] ?? 0)))
}

function union(all: readonly Counts[]): Counts {
  const ways = new Float64Array(all[0]?.ways.length ?? 0)
  for (const counts of all)
    for (const position of counts.positions) ways[position] = Math.max(ways[position] ?? 0, counts.ways[position] ?? 0)
  return { ways, positions: [...ways.keys()].filter((position) => ways[position]) }
}
