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
  /** `strings` matches any string, of any length: a back reference, or a class that contains strings, such as `\p{RGI_Emoji}`. */
  | { readonly kind: 'start' | 'end' | 'boundary' | 'strings' }

/** Parses a regular expression. It is valid, because it is a RegExp. */
export function parsePattern({ source, flags }: RegExp): Pattern {
  return new Parser(source, flags).choice()
}

const GROUP = /\(\?(?:<?[=!]|:|<[^>]*>|[a-z-]*:)|\(/y
const BOUNDS = /\{(\d+)(?:(,)(\d*))?\}/y
/** The escapes of the flags `u` and `v`. Two escaped surrogates are one character. */
const ESCAPE =
  /\\(?:u\{[^}]*\}|ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|u[\da-f]{4}|x[\da-f]{2}|p\{[^}]*\}|k<[^>]*>|c[a-z]|[1-9]\d*|[^])/iuy
/** Without these flags, a backslash before anything else escapes one character, and `\c` without a letter is a backslash. */
const LEGACY_ESCAPE = /\\(?:u[\da-f]{4}|x[\da-f]{2}|k<[^>]*>|c[a-z]|(?=c)|0[0-7]{0,2}|[1-9]\d*|[^])/iy

class Parser {
  readonly #source: string
  readonly #flags: string
  readonly #isUnicode: boolean
  #at = 0
  /** The groups with modifiers, such as `(?i:`, in which the parser is. */
  #modifiers: readonly string[] = []

  constructor(source: string, flags: string) {
    this.#source = source
    this.#flags = flags
    this.#isUnicode = /[uv]/.test(flags)
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
    if (sign === '[') return this.#character(this.#class())
    if (sign === '\\') return this.#escape()
    this.#at += sign.length
    if (sign === '^') return { kind: this.#isMultiline() ? 'boundary' : 'start' }
    if (sign === '$') return { kind: this.#isMultiline() ? 'boundary' : 'end' }
    return this.#character(/[{}\]]/.test(sign) ? `\\${sign}` : sign)
  }

  #group(): Pattern {
    const opening = this.#match(GROUP)?.[0] ?? ''
    const outer = this.#modifiers
    if (/^\(\?[a-z-]+:/.test(opening)) this.#modifiers = [...outer, opening]
    const part = this.choice()
    this.#modifiers = outer
    this.#takes(')')
    if (/^\(\?[=!]/.test(opening)) return { kind: 'lookahead', part }
    return /^\(\?<[=!]/.test(opening) ? { kind: 'lookbehind', part } : part
  }

  #character(source: string): Pattern {
    if (this.#flags.includes('v') && matchesStrings(source)) return { kind: 'strings' }
    return { kind: 'character', source: this.#modifiers.join('') + source + ')'.repeat(this.#modifiers.length) }
  }

  #isMultiline(): boolean {
    return this.#flags.includes('m') || this.#modifiers.some((opening) => opening.includes('m'))
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
    const source = this.#match(this.#isUnicode ? ESCAPE : LEGACY_ESCAPE)?.[0] ?? ''
    if (/^\\[bB]$/.test(source)) return { kind: 'boundary' }
    if (/^\\(?:[1-9]|k<)/.test(source)) return { kind: 'strings' }
    return this.#character(source === '\\' ? '\\\\' : source)
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
    const sign = this.#source[this.#at] ?? ''
    return this.#isUnicode ? String.fromCodePoint(this.#source.codePointAt(this.#at) ?? 0) : sign
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

/** Whether a class of the flag `v` has strings of several characters: `\q{...}`, or a property that only this flag has. */
function matchesStrings(source: string): boolean {
  return source.includes('\\q{') || (source.match(/\\p\{[^\\}]*\}/g) ?? []).some((property) => !isValid(property, 'u'))
}

function isValid(source: string, flags: string): boolean {
  try {
    return new RegExp(source, flags) instanceof RegExp
  } catch {
    return false
  }
}
