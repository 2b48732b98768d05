/*
 * A backtracking regular expression engine without optimisations, which counts its steps: tests of patternCost() compare them with the
 * computed cost. It runs trees, and does not use the parser of src.
 */

/** A regular expression as a tree. */
export type Tree =
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Tree[] }
  | {
      readonly kind: 'repeat'
      readonly part: Tree
      readonly least: number
      readonly most: number
      readonly sign: string
    }
  | { readonly kind: 'look'; readonly sign: '?=' | '?!' | '?<=' | '?<!'; readonly part: Tree }
  | { readonly kind: 'capture'; readonly part: Tree; readonly name: string }
  | { readonly kind: 'reference'; readonly name: string }
  | { readonly kind: 'start' | 'end' | 'boundary' }

/** The source text of a tree. */
export function sourceOf(tree: Tree): string {
  switch (tree.kind) {
    case 'character':
      return tree.source
    case 'sequence':
      return tree.parts.map((part) => (part.kind === 'choice' ? `(?:${sourceOf(part)})` : sourceOf(part))).join('')
    case 'choice':
      return tree.parts.map(sourceOf).join('|')
    case 'repeat':
      return (tree.part.kind === 'character' ? tree.part.source : `(?:${sourceOf(tree.part)})`) + tree.sign
    case 'look':
      return `(${tree.sign}${sourceOf(tree.part)})`
    case 'capture':
      return `(?<${tree.name}>${sourceOf(tree.part)})`
    case 'reference':
      return `\\k<${tree.name}>`
    default:
      return { start: '^', end: '$', boundary: '\\b' }[tree.kind]
  }
}

export interface Attempt {
  /** Undefined if the search was stopped. */
  readonly matches: boolean | undefined
  /** The characters read and the assertions checked. */
  readonly steps: number
}

class TooLong extends Error {}

/** Searches `text` for a tree with the flags `i`, `u` and `v`, in at most `most` steps. */
export function attempt(tree: Tree, flags: string, text: string, most: number): Attempt {
  const search = new Search(text, flags, most)
  try {
    return { matches: search.finds(tree), steps: search.steps }
  } catch (error) {
    // The stack of this engine is too small for some of the searches.
    if (error instanceof TooLong || error instanceof RangeError) return { matches: undefined, steps: search.steps }
    throw error
  }
}

type Next = (at: number) => boolean
type Direction = 1 | -1

/** Parts of a tree that are tried for each step: those that match the empty string take none. */
const MAX_PARTS_PER_STEP = 20

class Search {
  steps = 0
  #parts = 0
  readonly #text: readonly string[]
  readonly #flags: string
  readonly #most: number
  readonly #characters = new Map<string, RegExp>()
  #captures: Readonly<Record<string, readonly string[]>> = {}

  constructor(text: string, flags: string, most: number) {
    this.#text = /[uv]/.test(flags) ? [...text] : text.split('')
    this.#flags = flags
    this.#most = most
  }

  finds(tree: Tree): boolean {
    for (let start = 0; start <= this.#text.length; start++) {
      this.#captures = {}
      if (this.#match(tree, start, 1, () => true)) return true
      if (beginsAtStart(tree)) return false
    }
    return false
  }

  #match(tree: Tree, at: number, direction: Direction, next: Next): boolean {
    if (++this.#parts > MAX_PARTS_PER_STEP * this.#most) throw new TooLong()
    switch (tree.kind) {
      case 'character':
        return this.#isCharacter(tree.source, at, direction) && next(at + direction)
      case 'sequence':
        return this.#sequence(direction === 1 ? tree.parts : tree.parts.toReversed(), 0, at, direction, next)
      case 'choice':
        return tree.parts.some((part) => this.#keeping(() => this.#match(part, at, direction, next)))
      case 'repeat':
        return this.#repeat(tree, 0, at, direction, next)
      case 'look':
        return this.#look(tree, at, next)
      case 'capture':
        return this.#match(tree.part, at, direction, (after) =>
          this.#keeping(() => {
            const text = this.#text.slice(Math.min(at, after), Math.max(at, after))
            this.#captures = { ...this.#captures, [tree.name]: text }
            return next(after)
          }),
        )
      case 'reference':
        return this.#reference(this.#captures[tree.name] ?? [], at, direction, next)
      default:
        return this.#isAssertion(tree.kind, at) && next(at)
    }
  }

  #sequence(parts: readonly Tree[], index: number, at: number, direction: Direction, next: Next): boolean {
    const part = parts[index]
    if (!part) return next(at)
    return this.#match(part, at, direction, (after) => this.#sequence(parts, index + 1, after, direction, next))
  }

  #repeat(tree: Tree & { kind: 'repeat' }, count: number, at: number, direction: Direction, next: Next): boolean {
    const { part, least, most, sign } = tree
    const again = (after: number) =>
      (after !== at || count < least) && this.#repeat(tree, count + 1, after, direction, next)
    const round = () =>
      count < most &&
      this.#keeping(() => {
        this.#captures = Object.fromEntries(Object.entries(this.#captures).filter(([name]) => !captures(part, name)))
        return this.#match(part, at, direction, again)
      })
    const end = () => count >= least && next(at)
    return sign.length > 1 && sign.endsWith('?') ? end() || round() : round() || end()
  }

  #look({ sign, part }: Tree & { kind: 'look' }, at: number, next: Next): boolean {
    const before = this.#captures
    const found = this.#match(part, at, sign.includes('<') ? -1 : 1, () => true)
    if (sign.endsWith('!')) this.#captures = before
    const matches = found !== sign.endsWith('!') && next(at)
    if (!matches) this.#captures = before
    return matches
  }

  #reference(characters: readonly string[], at: number, direction: Direction, next: Next): boolean {
    const from = direction === 1 ? at : at - characters.length
    const isSame = (character: string, index: number) => {
      this.#step()
      const other = this.#text[from + index]
      return other !== undefined && this.#expression(escaped(character)).test(other)
    }
    return characters.every(isSame) && next(at + direction * characters.length)
  }

  #isAssertion(kind: 'start' | 'end' | 'boundary', at: number): boolean {
    this.#step()
    if (kind === 'start') return at === 0
    if (kind === 'end') return at === this.#text.length
    const isWord = (character: string | undefined) => character !== undefined && this.#expression('\\w').test(character)
    return isWord(this.#text[at - 1]) !== isWord(this.#text[at])
  }

  #isCharacter(source: string, at: number, direction: Direction): boolean {
    this.#step()
    const character = this.#text[direction === 1 ? at : at - 1]
    return character !== undefined && this.#expression(source).test(character)
  }

  /** Restores the captures if `attempted` fails. */
  #keeping(attempted: () => boolean): boolean {
    const before = this.#captures
    if (attempted()) return true
    this.#captures = before
    return false
  }

  #step(): void {
    if (++this.steps > this.#most) throw new TooLong()
  }

  #expression(source: string): RegExp {
    const known = this.#characters.get(source) ?? new RegExp(`^(?:${source})$`, this.#flags)
    this.#characters.set(source, known)
    return known
  }
}

function escaped(character: string): string {
  const codes = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index))
  return codes.map((code) => `\\u${code.toString(16).padStart(4, '0')}`).join('')
}

function captures(tree: Tree, name: string): boolean {
  if (tree.kind === 'capture' && tree.name === name) return true
  return childrenOf(tree).some((part) => captures(part, name))
}

// As V8, which then tries no other start.
function beginsAtStart(tree: Tree): boolean {
  return (
    tree.kind === 'start' || (tree.kind === 'sequence' && tree.parts[0] !== undefined && beginsAtStart(tree.parts[0]))
  )
}

export function childrenOf(tree: Tree): readonly Tree[] {
  if ('parts' in tree) return tree.parts
  return 'part' in tree ? [tree.part] : []
}
