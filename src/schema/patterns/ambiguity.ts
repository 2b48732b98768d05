import type { AnalysisBudget } from './analysis-budget.js'
import type { PatternGraph } from './pattern-graph.js'

/*
 * The repeated parts of a pattern, and whether the same input can match them in more than one way.
 */

export type Loop = ReadonlySet<number>

/** The repeated parts of the pattern: the strongly connected components of the graph. */
export function loopsOf({ next }: PatternGraph, budget: AnalysisBudget): Loop[] {
  const reached = next.map((_, position) => reachable(next, position, budget))
  const seen = new Set<number>()
  return next.flatMap((_, position) => {
    if (seen.has(position) || !reached[position]?.has(position)) return []
    const loop = new Set([...(reached[position] ?? [])].filter((other) => reached[other]?.has(position)))
    for (const other of loop) seen.add(other)
    return [loop]
  })
}

export function reachable(next: PatternGraph['next'], from: number, budget: AnalysisBudget): Set<number> {
  const found = new Set<number>()
  const open = [from]
  for (let position = open.pop(); position !== undefined; position = open.pop())
    for (const other of next[position]?.keys() ?? []) {
      budget.spend()
      if (found.has(other)) continue
      found.add(other)
      open.push(other)
    }
  return found
}

/** Comparing characters is faster than the other steps. */
const TESTS_PER_STEP = 8

/** Whether one input leads from a position in the loop back to it in two ways. Then each round doubles the number of ways. */
export function isAmbiguous({ next, characters }: PatternGraph, loop: Loop, budget: AnalysisBudget): boolean {
  const ofLoop = next.map((edges, position) =>
    loop.has(position) ? [...edges].filter(([other]) => loop.has(other)) : [],
  )
  if (ofLoop.some((edges) => edges.some(([, ways]) => ways > 1))) return true
  const size = next.length
  const before = new Map<number, number[]>()
  const open = [...loop].map((position) => position * size + position)
  const seen = new Set(open)
  for (let pair = open.pop(); pair !== undefined; pair = open.pop())
    for (const [one] of ofLoop[Math.floor(pair / size)] ?? []) {
      const others = ofLoop[pair % size] ?? []
      budget.spend(Math.ceil(others.length / TESTS_PER_STEP))
      for (const [other] of others) {
        if (!meet(characters, one, other)) continue
        const reached = one * size + other
        const known = before.get(reached)
        if (known) known.push(pair)
        else before.set(reached, [pair])
        if (seen.has(reached)) continue
        seen.add(reached)
        open.push(reached)
      }
    }
  return mergesAgain(
    before,
    [...loop].map((position) => position * size + position),
    size,
  )
}

/** Whether a pair of different positions leads to a pair of equal ones. */
function mergesAgain(before: ReadonlyMap<number, readonly number[]>, same: readonly number[], size: number): boolean {
  const seen = new Set(same)
  const open = [...same]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    if (Math.floor(pair / size) !== pair % size) return true
    for (const other of before.get(pair) ?? []) {
      if (seen.has(other)) continue
      seen.add(other)
      open.push(other)
    }
  }
  return false
}

/** Whether the same input can stay in the first loop, pass from the first to the second, or stay in the second: then the point of passing is ambiguous. */
export function isAmbiguousPass(graph: PatternGraph, first: Loop, second: Loop, budget: AnalysisBudget): boolean {
  return [...first].some((from) => [...second].some((to) => findsPass(graph, from, to, [first, second], budget)))
}

function findsPass(
  { next, characters }: PatternGraph,
  from: number,
  to: number,
  [first, second]: readonly [Loop, Loop],
  budget: AnalysisBudget,
): boolean {
  const size = next.length
  const start = [from, from, to] as const
  const open: (readonly [number, number, number])[] = [start]
  const seen = new Set<number>()
  for (let positions = open.pop(); positions !== undefined; positions = open.pop())
    for (const one of next[positions[0]]?.keys() ?? []) {
      if (!first.has(one)) continue
      for (const three of next[positions[2]]?.keys() ?? []) {
        const shared = (characters[one] ?? 0n) & (characters[three] ?? 0n)
        if (!second.has(three) || shared === 0n) continue
        for (const two of next[positions[1]]?.keys() ?? []) {
          budget.spend()
          if (((characters[two] ?? 0n) & shared) === 0n) continue
          if (one === from && two === to && three === to) return true
          const key = (one * size + two) * size + three
          if (seen.has(key)) continue
          seen.add(key)
          open.push([one, two, three])
        }
      }
    }
  return false
}

function meet(characters: PatternGraph['characters'], one: number, other: number): boolean {
  return ((characters[one] ?? 0n) & (characters[other] ?? 0n)) !== 0n
}
