import { BootError } from '../../core/boot-error.js'
import { AnalysisBudget, PatternTooLarge } from './analysis-budget.js'
import { isAmbiguous, isAmbiguousPass, loopsOf, reachable, type Loop } from './ambiguity.js'
import { ANY } from './character-sets.js'
import { graphOf, type PatternGraph } from './pattern-graph.js'
import { longest } from './pattern-measures.js'
import { longestWithin, stepsPerCharacter } from './pattern-steps.js'
import { parsePattern, type Pattern } from './pattern-syntax.js'

/*
 * The time that a backtracking engine takes, in the worst case, to find that a pattern does not match. It grows with the number of ways in
 * which the pattern can match parts of the input (Weber and Seidl: the degree of ambiguity). If there is one way, the time is linear. A
 * number of ways that does not grow with the input may still be large: it is counted.
 */

/** How the time grows with the length of the input. */
interface Growth {
  /** The time as a power of the input's length: 1 is linear, 2 quadratic. Infinity is exponential: each character may double it. NaN is unknown. */
  readonly degree: number
  /** The repeated parts of the pattern that can match the same characters. */
  readonly parts: readonly string[]
}

export interface PatternCost extends Growth {
  /** The most characters of an input that is matched in less than a millisecond; Infinity if the time is linear, 0 for none. */
  readonly longestInput: number
  /** Whether a match may begin anywhere in the input. */
  readonly isSearched: boolean
}

const LINEAR: Growth = { degree: 1, parts: [] }
/** The cost of a pattern that is too large for the analysis. */
const UNKNOWN = { degree: NaN, parts: [], longestInput: 0 }

/** An upper bound of the cost of matching: a linear pattern may be reported as worse, but never the reverse. */
export function patternCost(expression: RegExp): PatternCost {
  const pattern = withoutLastRepetition(parsePattern(expression))
  const isSearched = !startsAtStart(pattern)
  try {
    const budget = new AnalysisBudget()
    const graph = graphOf(pattern, expression.flags, isSearched && !expression.sticky, budget)
    const growth = growthOf(graph, budget)
    const longestInput = longestInputOf(graph, growth.degree, budget)
    const reads = isSearched ? Infinity : longest(pattern)
    return { ...growth, isSearched, longestInput: longestInput > 0 && reads <= longestInput ? Infinity : longestInput }
  } catch (error) {
    if (error instanceof PatternTooLarge) return { ...UNKNOWN, isSearched }
    throw error
  }
}

function growthOf(graph: PatternGraph, budget: AnalysisBudget): Growth {
  const loops = loopsOf(graph, budget)
  const exponential = loops.find((loop) => isAmbiguous(graph, loop, budget))
  return exponential ? { degree: Infinity, parts: sourcesOf(graph, exponential) } : polynomial(graph, loops, budget)
}

/** The ways that an engine tries in less than a millisecond. */
const MAX_WAYS = 2 ** 16
/** The steps that take about a millisecond. */
const MAX_STEPS = 2 ** 18
/** The steps for each character of an input of any length. */
const MAX_STEPS_PER_CHARACTER = 100
/** The longest input of a pattern of exponential time. */
const MAX_EXPONENTIAL = 8

function longestInputOf(graph: PatternGraph, degree: number, budget: AnalysisBudget): number {
  if (degree === 1 && stepsPerCharacter(graph, MAX_STEPS_PER_CHARACTER, budget) < Infinity) return Infinity
  const most = degree === Infinity ? MAX_EXPONENTIAL : Math.floor(MAX_WAYS ** (1 / degree))
  return longestWithin(graph, MAX_STEPS, most, budget)
}

const costs = new Map<string, PatternCost>()

// Cached, because many fields of a program have the same pattern.
function knownCost(expression: RegExp): PatternCost {
  const known = costs.get(String(expression)) ?? patternCost(expression)
  costs.set(String(expression), known)
  return known
}

const GROWTHS: Readonly<Partial<Record<number, string>>> = { 2: 'the square', 3: 'the cube' }

/**
 * Refuses a pattern with which a client could block the server.
 *
 * @param most The most characters of its input.
 * @param what What the pattern belongs to, for the message.
 * @param otherwise An alternative, for the message; default: a `maxLength`.
 * @throws BootError that names the repeated parts and how to rewrite them.
 */
export function refuseCostlyPattern(expression: RegExp, most: number, what: string, otherwise?: string): void {
  const cost = knownCost(expression)
  const { longestInput } = cost
  if (longestInput > 0 && most <= longestInput) return
  if (Number.isNaN(cost.degree))
    throw new BootError(
      `${what} ${expression} is too large to be checked for the time that it can take. Write fewer alternatives, and fewer and shorter repetitions${otherwise ?? ', or use enum for a list of values'}.`,
    )
  const orBound = longestInput > 0 ? `, or set maxLength to at most ${longestInput}` : ''
  throw new BootError(
    `${what} ${expression} can take time that ${growthIn(cost)}, so one request could block the server: ${reasonOf(cost)}${otherwise ?? orBound}.`,
  )
}

function growthIn({ degree }: Growth): string {
  if (degree === Infinity) return 'doubles with each character of its input'
  return degree === 1
    ? 'is thousands of times that of one comparison'
    : `grows with ${powerOf(degree)} of the length of its input`
}

function reasonOf(cost: PatternCost): string {
  const parts = cost.parts.filter((part) => part !== ANY)
  const isSearched = cost.isSearched && parts.length < cost.parts.length
  const repeated = `as ${parts.join(' and ')} ${parts.length === 1 ? 'is' : 'are'} repeated`
  return (
    `${isSearched ? 'a match may begin anywhere' : 'the input can match in many ways'}${parts.length > 0 ? `, ${repeated}` : ''}. ` +
    `${isSearched ? 'Begin it with ^, or rewrite it' : 'Rewrite it'} so that ${parts.length > 0 ? 'a repeated' : 'an optional or repeated'} part and what follows it have no character in common`
  )
}

function powerOf(degree: number): string {
  return GROWTHS[degree] ?? `the power ${degree}`
}

// A repetition at the end of a pattern never backtracks, because nothing can fail after it: only its first `least` rounds count.
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
      const first = pattern.parts.find(({ kind }) => kind !== 'boundary')
      return first !== undefined && startsAtStart(first)
    }
    case 'repeat':
      return pattern.least > 0 && startsAtStart(pattern.part)
    default:
      return false
  }
}

function polynomial(graph: PatternGraph, loops: readonly Loop[], budget: AnalysisBudget): Growth {
  const costs = new Map<Loop, Growth>()
  const costOf = (loop: Loop): Growth => {
    const known = costs.get(loop)
    if (known) return known
    const [position = 0] = loop
    const reached = reachable(graph.next, position, budget)
    const later = loops.filter((other) => other !== loop && reached.has([...other][0] ?? -1))
    const cost = later.reduce(
      (most, other) =>
        greater(
          most,
          isAmbiguousPass(graph, loop, other, budget) ? withLoop(graph, loop, other, costOf(other)) : costOf(other),
        ),
      LINEAR,
    )
    costs.set(loop, cost)
    return cost
  }
  return loops.map(costOf).reduce(greater, LINEAR)
}

function withLoop(graph: PatternGraph, loop: Loop, other: Loop, cost: Growth): Growth {
  const parts = [
    ...new Set([...sourcesOf(graph, loop), ...(cost.parts.length > 0 ? cost.parts : sourcesOf(graph, other))]),
  ]
  return { ...cost, degree: cost.degree + 1, parts }
}

function greater(one: Growth, other: Growth): Growth {
  return other.degree > one.degree ? other : one
}

function sourcesOf({ sources }: PatternGraph, loop: Loop): readonly string[] {
  return [...new Set([...loop].map((position) => sources[position] ?? ''))]
}
