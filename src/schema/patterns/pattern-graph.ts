import type { Pattern } from './pattern-syntax.js'

/*
 * A pattern as a graph (a position automaton, or Glushkov automaton): one position for each character of the pattern, and an edge to each
 * position whose character may come next. The engine's ways through an input are paths in the graph.
 */

/** A set of sample characters, one bit for each. */
type Characters = bigint

export interface PatternGraph {
  /** By position: the characters that match there. */
  readonly characters: readonly Characters[]
  readonly sources: readonly string[]
  /** By position: the positions that may come next, with the number of ways to get there; 2 stands for any larger number. */
  readonly next: readonly ReadonlyMap<number, number>[]
}

type Positions = ReadonlyMap<number, number>

/** A part of the pattern: the positions where it can begin and end, and the number of ways in which it matches the empty string. */
interface Fragment {
  readonly first: Positions
  readonly last: Positions
  readonly empty: number
}

const NOTHING: Fragment = { first: new Map(), last: new Map(), empty: 1 }
/** Any character. */
export const ANY = '[^]'
/** The longest repetition that is written out in the graph. A longer one is treated as unbounded. */
const MOST_COPIES = 64

/** @param isSearched Whether a match may begin anywhere in the input. */
export function graphOf(pattern: Pattern, flags: string, isSearched: boolean): PatternGraph {
  const builder = new GraphBuilder()
  const search = isSearched ? builder.fragment(repeated({ kind: 'character', source: ANY })) : NOTHING
  builder.join(search, builder.fragment(pattern))
  return { next: builder.next, sources: builder.sources, characters: charactersOf(builder.sources, flags) }
}

function repeated(part: Pattern): Pattern {
  return { kind: 'repeat', part, least: 0, most: Infinity }
}

class GraphBuilder {
  readonly sources: string[] = []
  readonly next: Map<number, number>[] = []

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
        return { first: this.fragment(pattern.part).first, last: new Map(), empty: 1 }
      case 'lookbehind':
        return isBounded(pattern.part) ? NOTHING : this.fragment(repeated({ kind: 'character', source: ANY }))
      case 'reference': // a back reference may match any string
        return this.fragment(repeated({ kind: 'character', source: ANY }))
      default:
        return NOTHING
    }
  }

  join(before: Fragment, after: Fragment): Fragment {
    this.#connect(before.last, after.first)
    return {
      first: sum(before.first, after.first, before.empty),
      last: sum(after.last, before.last, after.empty),
      empty: Math.min(before.empty * after.empty, 2),
    }
  }

  #position(source: string): Fragment {
    const position = this.sources.push(source) - 1
    this.next.push(new Map())
    return { first: new Map([[position, 1]]), last: new Map([[position, 1]]), empty: 0 }
  }

  #connect(from: Positions, to: Positions): void {
    for (const [one, ways] of from)
      for (const [other, others] of to) {
        const edges = this.next[one] as Map<number, number> // every position has a map of edges, added with it
        edges.set(other, Math.min((edges.get(other) ?? 0) + ways * others, 2))
      }
  }

  #repeat({ part, least, most }: Pattern & { kind: 'repeat' }): Fragment {
    if (most === 0) return NOTHING
    if (most === 1) return least === 1 ? this.fragment(part) : { ...this.fragment(part), empty: 1 }
    // Copies are exact. A loop overestimates: it has more ways than any number of copies.
    return isCopied(part, least, most) ? this.#copies(part, least, most) : this.#loop(this.fragment(part), least)
  }

  #loop(body: Fragment, least: number): Fragment {
    this.#connect(body.last, body.first)
    return { ...body, empty: least === 0 ? 1 : body.empty }
  }

  #copies(part: Pattern, least: number, most: number): Fragment {
    let all = NOTHING
    for (let copy = most; copy > 0; copy--) {
      const joined = this.join(this.fragment(part), all)
      all = copy > least ? { ...joined, empty: 1 } : joined
    }
    return all
  }
}

// Parts of variable length are not copied: their copies have as many ways as a loop, and need more positions.
function isCopied(part: Pattern, least: number, most: number): boolean {
  if (most > MOST_COPIES) return false
  const length = longest(part)
  return part.kind === 'character' || (least === most && length * most <= MOST_COPIES && isFixed(part))
}

function isFixed(part: Pattern): boolean {
  switch (part.kind) {
    case 'character':
      return true
    case 'sequence':
      return part.parts.every(isFixed)
    case 'choice':
      return part.parts.every((one) => isFixed(one) && longest(one) === longest(part))
    case 'repeat':
      return part.least === part.most && isFixed(part.part)
    default:
      return false
  }
}

function isBounded(pattern: Pattern): boolean {
  return longest(pattern) < Infinity
}

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
    case 'reference':
      return Infinity
    default:
      return 0
  }
}

function either(one: Fragment, other: Fragment): Fragment {
  return {
    first: sum(one.first, other.first, 1),
    last: sum(one.last, other.last, 1),
    empty: Math.min(one.empty + other.empty, 2),
  }
}

function sum(positions: Positions, more: Positions, ways: number): Positions {
  const all = new Map(positions)
  if (ways > 0)
    for (const [position, others] of more) all.set(position, Math.min((all.get(position) ?? 0) + ways * others, 2))
  return all
}

/** One character of each kind beyond ASCII: letters of three cases, digits, combining marks, spaces, line ends, surrogates, an emoji. */
const SAMPLES = [
  ...'\u0080\u00a0\u00aa\u00b5\u00c9\u00df\u00e9\u00f7\u0130\u017f\u0301\u0416\u0436\u0660\u05d0\u3042\u4e2d\uac00\u1680\u2003\u2028\u202f\u212a\u2160\u20ac\ud800\udc00\ue000\ufe0f\ufeff\uffff\u{1f600}\u{10ffff}',
]
const CODES = /\\(?:u\{([\da-f]+)\}|u([\da-f]{4})|x([\da-f]{2}))/gi

function charactersOf(sources: readonly string[], flags: string): Characters[] {
  const own = sources.flatMap((source) =>
    [...source, ...[...source.matchAll(CODES)].map(([, ...codes]) => toCharacter(codes.find(Boolean)))].flatMap(
      neighbours,
    ),
  )
  const ascii = Array.from({ length: 128 }, (_, code) => String.fromCharCode(code))
  const samples = [...new Set([...ascii, ...SAMPLES, ...own])]
  const tests = new Map([...new Set(sources)].map((source) => [source, samplesOf(source, flags, samples)]))
  return sources.map((source) => tests.get(source) as bigint) // `tests` has all sources
}

function toCharacter(code = '0'): string {
  const point = Number.parseInt(code, 16)
  return String.fromCodePoint(Math.min(point, 0x10ffff))
}

// The ends of a range such as [a-f] are in the source: the characters beside them show where it ends.
function neighbours(character: string): string[] {
  const code = character.codePointAt(0) ?? 0
  return [code - 1, code, code + 1].filter((one) => one >= 0 && one <= 0x10ffff).map((one) => String.fromCodePoint(one))
}

function samplesOf(source: string, flags: string, samples: readonly string[]): Characters {
  const one = new RegExp(`^(?:${source})$`, flags.replaceAll(/[dgmy]/g, ''))
  const bits = samples.map((sample) => (source === ANY || one.test(sample) ? '1' : '0'))
  return BigInt(`0b${bits.join('')}`)
}
