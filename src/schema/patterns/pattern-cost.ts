import { BootError } from '../../core/boot-error.js'
import { ANY, graphOf, longest, type PatternGraph } from './pattern-graph.js'
import { parsePattern, type Pattern } from './pattern-syntax.js'

/*
 * How many ways a backtracking engine may have to go through a text before it knows that a pattern does not match: what Weber and Seidl
 * call the degree of ambiguity. One way through each piece of a text is time in proportion to it.
 */

/** Time as a power of a text's length; Infinity when each character more may double it. */
export interface PatternCost {
  readonly degree: number
  /** The parts of the pattern that can share one text between them in many ways. */
  readonly parts: readonly string[]
  /** The most characters that the pattern looks at. */
  readonly length: number
}

const LINEAR: PatternCost = { degree: 1, parts: [], length: Infinity }

/** The cost of matching, at most: a linear pattern may count as more, never the other way round. */
export function patternCost(expression: RegExp): PatternCost {
  const pattern = withoutLastRepetition(parsePattern(expression))
  const isSearched = !startsAtStart(pattern)
  const length = isSearched ? Infinity : longest(pattern)
  const graph = graphOf(pattern, expression.flags, isSearched && !expression.sticky)
  const loops = loopsOf(graph)
  const doubled = loops.find((loop) => isAmbiguous(graph, loop))
  if (doubled) return { degree: Infinity, parts: sourcesOf(graph, doubled), length }
  return { ...polynomial(graph, loops), length }
}

/** Ways through one text that are tried in less than a millisecond. */
const MOST_WAYS = 2 ** 16
const MOST_DOUBLED = 8

/** The longest text that a pattern of this cost may be matched against; Infinity for any. */
export function longestFor({ degree }: PatternCost): number {
  if (degree === 1) return Infinity
  return degree === Infinity ? MOST_DOUBLED : Math.floor(MOST_WAYS ** (1 / degree))
}

const GROWTHS: Readonly<Partial<Record<number, string>>> = { 2: 'the square', 3: 'the cube' }

/**
 * Refuses a pattern that a client could keep the server busy with.
 *
 * @param most characters of the texts that it is matched against.
 * @throws BootError that names the repeated parts and the cure.
 */
export function refuseCostlyPattern(expression: RegExp, most: number, what: string, otherwise?: string): void {
  const cost = patternCost(expression)
  const longestText = longestFor(cost)
  if (Math.min(most, cost.length) <= longestText) return
  const growth =
    cost.degree === Infinity ? 'doubles with each character' : `grows with ${powerOf(cost.degree)} of the length`
  const parts = cost.parts.filter((part) => part !== ANY)
  const isSearched = parts.length < cost.parts.length
  throw new BootError(
    `${what} ${expression} can take time that ${growth} of a text, so that one request could stop the server: ` +
      `${isSearched ? 'a match may begin anywhere' : 'a text fits in many ways'}, as ${parts.join(' and ')} ${parts.length === 1 ? 'is' : 'are'} repeated. ` +
      `${isSearched ? 'Begin it with ^, or rewrite it' : 'Rewrite it'} so that what is repeated and what follows it share no character` +
      `${otherwise ?? `, or give a maxLength of at most ${longestText}`}.`,
  )
}

function powerOf(degree: number): string {
  return GROWTHS[degree] ?? `the power ${degree}`
}

// A repetition at the end that nothing follows takes what it can and has matched: its first turn decides.
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

/** The places that a way can come back to, together with those on the way (strongly connected components). */
function loopsOf({ next }: PatternGraph): Loop[] {
  const reached = next.map((_, place) => reachable(next, place))
  const seen = new Set<number>()
  return next.flatMap((_, place) => {
    if (seen.has(place) || !reached[place]?.has(place)) return []
    const loop = new Set([...(reached[place] ?? [])].filter((other) => reached[other]?.has(place)))
    for (const other of loop) seen.add(other)
    return [loop]
  })
}

function reachable(next: PatternGraph['next'], from: number): Set<number> {
  const found = new Set<number>()
  const open = [from]
  for (let place = open.pop(); place !== undefined; place = open.pop())
    for (const other of next[place]?.keys() ?? []) {
      if (found.has(other)) continue
      found.add(other)
      open.push(other)
    }
  return found
}

/** Whether two ways of one text lead from a place of the loop back to it: each turn doubles them. */
function isAmbiguous({ next, characters }: PatternGraph, loop: Loop): boolean {
  const within = (place: number) => [...(next[place] ?? [])].filter(([other]) => loop.has(other))
  if ([...loop].some((place) => within(place).some(([, ways]) => ways > 1))) return true
  const size = next.length
  const before = new Map<number, number[]>()
  const open = [...loop].map((place) => place * size + place)
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
  return comesBack(
    before,
    [...loop].map((place) => place * size + place),
    size,
  )
}

/** Whether a pair of two different places leads to a pair of one. */
function comesBack(before: ReadonlyMap<number, readonly number[]>, same: readonly number[], size: number): boolean {
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
    const [place = 0] = loop
    const reached = reachable(graph.next, place)
    const later = loops.filter((other) => other !== loop && reached.has([...other][0] ?? -1))
    const cost = later.reduce((most, other) => greater(most, withLoop(graph, loop, other, costOf(other))), LINEAR)
    costs.set(loop, cost)
    return cost
  }
  return loops.map(costOf).reduce(greater, LINEAR)
}

function withLoop(graph: PatternGraph, loop: Loop, other: Loop, cost: PatternCost): PatternCost {
  if (!handsOver(graph, loop, other)) return cost
  const parts = [
    ...new Set([...sourcesOf(graph, loop), ...(cost.parts.length > 0 ? cost.parts : sourcesOf(graph, other))]),
  ]
  return { ...cost, degree: cost.degree + 1, parts }
}

function greater(one: PatternCost, other: PatternCost): PatternCost {
  return other.degree > one.degree ? other : one
}

/** Steps after which a pattern counts as the worse one. */
const MOST_STEPS = 2_000_000

/** Whether one text leads from the first loop round it, from it into the second, and round the second: where to change over is open. */
function handsOver(graph: PatternGraph, first: Loop, second: Loop): boolean {
  const budget = { steps: MOST_STEPS }
  return [...first].some((from) => [...second].some((to) => isHandedOver(graph, from, to, [first, second], budget)))
}

function isHandedOver(
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
  for (let places = open.pop(); places !== undefined; places = open.pop())
    for (const one of next[places[0]]?.keys() ?? []) {
      if (!first.has(one)) continue
      for (const three of next[places[2]]?.keys() ?? []) {
        const shared = (characters[one] ?? 0n) & (characters[three] ?? 0n)
        if (!second.has(three) || shared === 0n) continue
        for (const two of next[places[1]]?.keys() ?? []) {
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
  return [...new Set([...loop].map((place) => sources[place] ?? ''))]
}
