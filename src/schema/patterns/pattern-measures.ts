import type { Pattern } from './pattern-syntax.js'

/*
 * Measures of a pattern that need no graph: lengths, and how much work a part is at most.
 */

/** Stands for any larger number of ways. */
export const MAX_WAYS = 2 ** 32

/** The most characters that a pattern reads. */
export function longest(pattern: Pattern): number {
  switch (pattern.kind) {
    case 'character':
      return 1
    case 'sequence':
      return pattern.parts.reduce((length, part) => length + longest(part), 0)
    case 'choice':
      return Math.max(...pattern.parts.map(longest))
    case 'repeat':
      return pattern.most === 0 ? 0 : longest(pattern.part) * pattern.most || 0
    case 'lookahead':
    case 'lookbehind':
      return longest(pattern.part)
    case 'strings':
      return Infinity
    default:
      return 0
  }
}

/** Whether all strings that the pattern matches have the same length, in one way. */
export function isFixed(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'character':
      return true
    case 'sequence':
      return pattern.parts.every(isFixed)
    case 'choice':
      return pattern.parts.every((one) => isFixed(one) && longest(one) === longest(pattern))
    case 'repeat':
      return pattern.least === pattern.most && isFixed(pattern.part)
    default:
      return false
  }
}

export function canBeEmpty(pattern: Pattern): boolean {
  switch (pattern.kind) {
    case 'character':
      return false
    case 'sequence':
      return pattern.parts.every(canBeEmpty)
    case 'choice':
      return pattern.parts.some(canBeEmpty)
    case 'repeat':
      return pattern.least === 0 || canBeEmpty(pattern.part)
    default:
      return true
  }
}

/** The number of characters in a pattern, with all its repetitions written out. */
export function sizeOf(pattern: Pattern): number {
  switch (pattern.kind) {
    case 'character':
      return 1
    case 'sequence':
    case 'choice':
      return pattern.parts.reduce((size, part) => size + sizeOf(part), 0)
    case 'repeat':
      return pattern.most === 0 ? 0 : sizeOf(pattern.part) * pattern.most || 0
    case 'lookahead':
    case 'lookbehind':
      return sizeOf(pattern.part)
    default:
      return 0
  }
}

/** How often a part is tried at most, with any input: `ways` times as many ways as `loops` repetitions have, one after the other. */
export interface Effort {
  readonly ways: number
  /** Infinity if the number of ways is exponential. */
  readonly loops: number
}

export function effortOf(pattern: Pattern): Effort {
  switch (pattern.kind) {
    case 'sequence':
      return pattern.parts.map(effortOf).reduce(inSequence, { ways: 1, loops: 0 })
    case 'choice': {
      const parts = pattern.parts.map(effortOf)
      const ways = parts.reduce((sum, part) => sum + part.ways, 0)
      return { ways: Math.min(ways, MAX_WAYS), loops: Math.max(...parts.map(({ loops }) => loops)) }
    }
    case 'repeat':
      return effortOfRounds(pattern)
    case 'lookahead':
    case 'lookbehind':
      return effortOf(pattern.part)
    case 'strings':
      return { ways: 1, loops: 1 }
    default:
      return { ways: 1, loops: 0 }
  }
}

function inSequence(one: Effort, other: Effort): Effort {
  return { ways: Math.min(one.ways * other.ways, MAX_WAYS), loops: one.loops + other.loops }
}

function effortOfRounds({ part, least, most }: Pattern & { kind: 'repeat' }): Effort {
  const { ways, loops } = effortOf(part)
  if (most === 0) return { ways: 1, loops: 0 }
  if (most === Infinity && ways === 1 && loops === 0 && !canBeEmpty(part)) return { ways: 1, loops: 1 }
  // The number of ways of such a loop is taken to be a power of two. With more ways in a round, there is no bound.
  if (most === Infinity) return { ways: ways > 2 ? MAX_WAYS : ways, loops: Infinity }
  return { ways: ways === 1 ? Math.min(most - least + 1, MAX_WAYS) : geometricSum(ways, most), loops: loops * most }
}

/** base ** exponent, or MAX_WAYS. */
export function power(base: number, exponent: number): number {
  return Math.min(base ** Math.max(exponent, 0), MAX_WAYS)
}

/** 1 + base + base ** 2 + ... + base ** exponent, or MAX_WAYS. */
export function geometricSum(base: number, exponent: number): number {
  const terms = Math.max(exponent, 0) + 1
  return Math.min(base === 1 ? terms : (base ** terms - 1) / (base - 1), MAX_WAYS)
}
