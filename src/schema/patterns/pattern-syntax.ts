/*
 * A regular expression as a tree, with what matters for its running time. The expression for one character, such as `[a-z]`, stays source
 * text: the engine itself evaluates it.
 */

export type Pattern =
  | { readonly kind: 'character'; readonly source: string }
  | { readonly kind: 'sequence'; readonly parts: readonly Pattern[] }
  | { readonly kind: 'choice'; readonly parts: readonly Pattern[] }
  | { readonly kind: 'repeat'; readonly part: Pattern; readonly least: number; readonly most: number }
  | { readonly kind: 'lookahead'; readonly part: Pattern }
  | { readonly kind: 'lookbehind'; readonly part: Pattern }
  | { readonly kind: 'start' | 'end' | 'boundary' | 'reference' }

/** Parses a regular expression. It is valid, as it is a RegExp. */
export function parsePattern({ source, flags }: RegExp): Pattern {
  return new Parser(source, flags).choice()
}

const GROUP = /\(\?(?:<?[=!]|:|<[^>]*>|[a-z-]*:)|\(/y
const BOUNDS = /\{(\d+)(?:(,)(\d*))?\}/y
/** The escapes that the flag `u` allows. Without the flag, a backslash before anything else escapes one character. */
const ESCAPE = /\\(?:u\{[^}]*\}|u[\da-f]{4}|x[\da-f]{2}|[pP]\{[^}]*\}|k<[^>]*>|c[a-z]|[1-9]\d*|[^])/iuy

class Parser {
  readonly #source: string
  readonly #flags: string
  #at = 0

  constructor(source: string, flags: string) {
    this.#source = source
    this.#flags = flags
  }

  choice(): Pattern {
    const first = this.#sequence()
    const others: Pattern[] = []
    while (this.#takes('|')) others.push(this.#sequence())
    return others.length === 0 ? first : { kind: 'choice', parts: [first, ...others] }
  }

  #sequence(): Pattern {
    const parts: Pattern[] = []
    while (this.#at < this.#source.length && !/[|)]/.test(this.#next())) parts.push(this.#repeated(this.#atom()))
    return { kind: 'sequence', parts }
  }

  #atom(): Pattern {
    const sign = this.#next()
    if (sign === '(') return this.#group()
    if (sign === '[') return { kind: 'character', source: this.#class() }
    if (sign === '\\') return this.#escape()
    this.#at += sign.length
    if (sign === '^') return { kind: this.#flags.includes('m') ? 'boundary' : 'start' }
    if (sign === '$') return { kind: this.#flags.includes('m') ? 'boundary' : 'end' }
    return { kind: 'character', source: /[{}\]]/.test(sign) ? `\\${sign}` : sign }
  }

  #group(): Pattern {
    const opening = this.#match(GROUP)?.[0] ?? ''
    const part = this.choice()
    this.#takes(')')
    if (/^\(\?[=!]/.test(opening)) return { kind: 'lookahead', part }
    return /^\(\?<[=!]/.test(opening) ? { kind: 'lookbehind', part } : part
  }

  #class(): string {
    const from = this.#at
    let depth = 0
    do {
      const sign = this.#next()
      this.#at += sign === '\\' ? 2 : sign.length
      if (sign === '[' && (depth === 0 || this.#flags.includes('v'))) depth++
      if (sign === ']') depth--
    } while (depth > 0)
    return this.#source.slice(from, this.#at)
  }

  #escape(): Pattern {
    const source = this.#match(ESCAPE)?.[0] ?? ''
    if (/^\\[bB]$/.test(source)) return { kind: 'boundary' }
    return /^\\(?:[1-9]|k<)/.test(source) ? { kind: 'reference' } : { kind: 'character', source }
  }

  #repeated(part: Pattern): Pattern {
    const bounds = this.#bounds()
    if (!bounds) return part
    this.#takes('?')
    const [least, most] = bounds
    return { kind: 'repeat', part, least, most }
  }

  #bounds(): readonly [least: number, most: number] | undefined {
    if (this.#takes('*')) return [0, Infinity]
    if (this.#takes('+')) return [1, Infinity]
    if (this.#takes('?')) return [0, 1]
    const [, least, comma, most] = this.#match(BOUNDS) ?? []
    if (least === undefined) return undefined
    return [Number(least), comma === undefined ? Number(least) : most ? Number(most) : Infinity]
  }

  #next(): string {
    return String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0)
  }

  #takes(sign: string): boolean {
    if (this.#source[this.#at] !== sign) return false
    this.#at++
    return true
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at
    const found = expression.exec(this.#source)
    if (found) this.#at += found[0].length
    return found
  }
}
