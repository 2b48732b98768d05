import { BootError } from '../../core/boot-error.js'
import { ANY, graphOf, longest, type PatternGraph } from './pattern-graph.js'
import { parsePattern, type Pattern } from './pattern-syntax.js'

/*
 * The time that a backtracking engine takes, in the worst case, to find that a pattern does not match. It grows with the number of ways in
 * which the pattern can match parts of the input (Weber and Seidl: the degree of ambiguity). If there is one way, the time is linear.
 */

export interface PatternCost {
  /** The time as a power of the input's length: 1 is linear, 2 quadratic. Infinity is exponential: each character may double it. */
  readonly degree: number
  /** The repeated parts of the pattern that can match the same characters. */
  readonly parts: readonly string[]
  /** The most characters that the pattern reads. */
  readonly length: number
}

const LINEAR: PatternCost = { degree: 1, parts: [], length: Infinity }

/** An upper bound of the cost of matching: a linear pattern may be found to be worse, but never the other way round. */
export function patternCost(expression: RegExp): PatternCost {
  const pattern = withoutLastRepetition(parsePattern(expression))
  const isSearched = !startsAtStart(pattern)
  const length = isSearched ? Infinity : longest(pattern)
  const graph = graphOf(pattern, expression.flags, isSearched && !expression.sticky)
  const loops = loopsOf(graph)
  const exponential = loops.find((loop) => isAmbiguous(graph, loop))
  if (exponential) return { degree: Infinity, parts: sourcesOf(graph, exponential), length }
  return { ...polynomial(graph, loops), length }
}

/** The ways that an engine tries in less than a millisecond. */
const MOST_WAYS = 2 ** 16
/** The longest input of a pattern of exponential time. */
const MOST_EXPONENTIAL = 8

/** The most characters that a pattern of this cost may be matched against; Infinity for any number. */
export function longestFor({ degree }: PatternCost): number {
  if (degree === 1) return Infinity
  return degree === Infinity ? MOST_EXPONENTIAL : Math.floor(MOST_WAYS ** (1 / degree))
}

const GROWTHS: Readonly<Partial<Record<number, string>>> = { 2: 'the square', 3: 'the cube' }

/**
 * Refuses a pattern with which a client could block the server.
 *
 * @param most The most characters of its input.
 * @param what What the pattern belongs to, for the message.
 * @param otherwise Another way out, for the message; default: a `maxLength`.
 * @throws BootError that names the repeated parts and how to rewrite them.
 */
export function refuseCostlyPattern(expression: RegExp, most: number, what: string, otherwise?: string): void {
  const cost = patternCost(expression)
  const longestInput = longestFor(cost)
  if (Math.min(most, cost.length) <= longestInput) return
  const growth =
    cost.degree === Infinity ? 'doubles with each character' : `grows with ${powerOf(cost.degree)} of the length`
  const parts = cost.parts.filter((part) => part !== ANY)
  const isSearched = parts.length < cost.parts.length
  throw new BootError(
    `${what} ${expression} can take time that ${growth} of its input, so one request could block the server: ` +
      `${isSearched ? 'a match may begin anywhere' : 'the input can match in many ways'}, as ${parts.join(' and ')} ${parts.length === 1 ? 'is' : 'are'} repeated. ` +
      `${isSearched ? 'Begin it with ^, or rewrite it' : 'Rewrite it'} so that a repeated part and what follows it have no character in common` +
      `${otherwise ?? `, or set maxLength to at most ${longestInput}`}.`,
  )
}

function powerOf(degree: number): string {
  return GROWTHS[degree] ?? `the power ${degree}`
}

// A repetition at the end of a pattern never backtracks, as nothing can fail after it: only its first `least` rounds count.
function withoutLastRepetition(pattern: Pattern): Pattern {
  if (pattern.kind === 'choice') return { ...pattern, parts: pattern.parts.map(withoutLastRepetition) }
  if (pattern.kind !== 'sequence') return pattern
  const last = pattern.parts.at(-1)
  if (last?.kind !== 'repeat' || last.part.kind !== 'character') return pattern
  return { ...pattern, parts: [...pattern.parts.slice(0, -1), { ...last, most: last.least }] }
}

function startsAtStart(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'start':
      return true
    case 'choice':
      return pattern.parts.every(startsAtStart)
    case 'sequence': {
      const first = pattern.parts.find(({ kind }) => kind !== 'lookahead' && kind !== 'boundary')
      return first !== undefined && startsAtStart(first)
    }
    case 'repeat':
      return pattern.least > 0 && startsAtStart(pattern.part)
    default:
      return false
  }
}

type Loop = ReadonlySet<number>

/** The repeated parts of the pattern: the strongly connected components of the graph. */
function loopsOf({ next }: PatternGraph): Loop[] {
  const reached = next.map((_, position) => reachable(next, position))
  const seen = new Set<number>()
  return next.flatMap((_, position) => {
    if (seen.has(position) || !reached[position]?.has(position)) return []
    const loop = new Set([...(reached[position] ?? [])].filter((other) => reached[other]?.has(position)))
    for (const other of loop) seen.add(other)
    return [loop]
  })
}

function reachable(next: PatternGraph['next'], from: number): Set<number> {
  const found = new Set<number>()
  const open = [from]
  for (let position = open.pop(); position !== undefined; position = open.pop())
    for (const other of next[position]?.keys() ?? []) {
      if (found.has(other)) continue
      found.add(other)
      open.push(other)
    }
  return found
}

/** Whether one input leads in two ways from a position in the loop back to it. Then each round doubles the number of ways. */
function isAmbiguous({ next, characters }: PatternGraph, loop: Loop): boolean {
  const within = (position: number) => [...(next[position] ?? [])].filter(([other]) => loop.has(other))
  if ([...loop].some((position) => within(position).some(([, ways]) => ways > 1))) return true
  const size = next.length
  const before = new Map<number, number[]>()
  const open = [...loop].map((position) => position * size + position)
  const seen = new Set(open)
  for (let pair = open.pop(); pair !== undefined; pair = open.pop())
    for (const [one] of within(Math.floor(pair / size)))
      for (const [other] of within(pair % size)) {
        if (!meet(characters, one, other)) continue
        const reached = one * size + other
        const known = before.get(reached)
        if (known) known.push(pair)
        else before.set(reached, [pair])
        if (seen.has(reached)) continue
        seen.add(reached)
        open.push(reached)
      }
  return joinsAgain(
    before,
    [...loop].map((position) => position * size + position),
    size,
  )
}

/** Whether a pair of different positions leads to a pair of equal ones. */
function joinsAgain(before: ReadonlyMap<number, readonly number[]>, same: readonly number[], size: number): boolean {
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

function polynomial(graph: PatternGraph, loops: readonly Loop[]): PatternCost {
  const costs = new Map<Loop, PatternCost>()
  const costOf = (loop: Loop): PatternCost => {
    const known = costs.get(loop)
    if (known) return known
    const [position = 0] = loop
    const reached = reachable(graph.next, position)
    const later = loops.filter((other) => other !== loop && reached.has([...other][0] ?? -1))
    const cost = later.reduce((most, other) => greater(most, withLoop(graph, loop, other, costOf(other))), LINEAR)
    costs.set(loop, cost)
    return cost
  }
  return loops.map(costOf).reduce(greater, LINEAR)
}

function withLoop(graph: PatternGraph, loop: Loop, other: Loop, cost: PatternCost): PatternCost {
  if (!isPassedOn(graph, loop, other)) return cost
  const parts = [
    ...new Set([...sourcesOf(graph, loop), ...(cost.parts.length > 0 ? cost.parts : sourcesOf(graph, other))]),
  ]
  return { ...cost, degree: cost.degree + 1, parts }
}

function greater(one: PatternCost, other: PatternCost): PatternCost {
  return other.degree > one.degree ? other : one
}

/** The steps of the analysis after which the worse result is assumed. */
const MOST_STEPS = 2_000_000

/** Whether the same input can stay in the first loop, pass from the first to the second, or stay in the second: then the point of passing is ambiguous. */
function isPassedOn(graph: PatternGraph, first: Loop, second: Loop): boolean {
  const budget = { steps: MOST_STEPS }
  return [...first].some((from) => [...second].some((to) => findsPass(graph, from, to, [first, second], budget)))
}

function findsPass(
  { next, characters }: PatternGraph,
  from: number,
  to: number,
  [first, second]: readonly [Loop, Loop],
  budget: { steps: number },
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
          if (budget.steps-- < 0) return true
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

function sourcesOf({ sources }: PatternGraph, loop: Loop): readonly string[] {
  return [...new Set([...loop].map((position) => sources[position] ?? ''))]
}
