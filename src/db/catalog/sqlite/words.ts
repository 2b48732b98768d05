import { tokensOf } from '../../sql/lexer.js'

/** A word of SQL, a quoted name or text, an operator, a parenthesis, or a comma; without comments. */
export interface Word {
  /** As it is written. */
  readonly text: string
  /** Without its quotes; in upper case if it has none. */
  readonly value: string
  readonly isQuoted: boolean
  readonly start: number
  readonly end: number
  /** How many parentheses are open around it. Those of a parenthesis itself are the same. */
  readonly depth: number
}

/** The words of a statement of SQLite. */
export function wordsOf(sql: string): Word[] {
  const words: Word[] = []
  let [depth, from] = [0, 0]
  const addPlain = (to: number) => words.push(...plainWords(sql.slice(from, to), from, depth))
  for (const { kind, start, end } of tokensOf(sql, 'sqlite')) {
    addPlain(start)
    from = end
    const text = sql.slice(start, end)
    if (text === ')') depth--
    if (kind === 'parenthesis') words.push({ text, value: text, isQuoted: false, start, end, depth })
    if (kind === 'quoted') words.push({ text, value: unquoted(text), isQuoted: true, start, end, depth })
    if (text === '(') depth++
  }
  addPlain(sql.length)
  return words
}

/** Names, numbers and operators. */
const PLAIN = /[\p{L}\p{N}_$]+|<=|>=|<>|!=|==|\|\||[^\s\p{L}\p{N}_$]/gu

function plainWords(text: string, from: number, depth: number): Word[] {
  return [...text.matchAll(PLAIN)].map(({ 0: word, index }) => ({
    text: word,
    value: word.toUpperCase(),
    isQuoted: false,
    start: from + index,
    end: from + index + word.length,
    depth,
  }))
}

function unquoted(text: string): string {
  const quote = text.charAt(text.length - 1)
  const inner = text.slice(1, -1)
  return quote === ']' ? inner : inner.replaceAll(quote + quote, quote)
}

/** The name that a word is: SQL without quotes keeps its case. */
export function nameOf(word: Word | undefined): string {
  return word === undefined ? '' : word.isQuoted ? word.value : word.text
}

export function isKeyword(word: Word | undefined, keyword: string): boolean {
  return word !== undefined && !word.isQuoted && word.value === keyword
}

/** Whether a name is one of the words of a statement. */
export function mentions(sql: string, name: string): boolean {
  return wordsOf(sql).some((word) => nameOf(word).toLowerCase() === name.toLowerCase())
}

/** The words between the first outermost parentheses, separated by commas. */
export function listOf(words: readonly Word[]): Word[][] {
  const open = words.findIndex(({ text, depth }) => text === '(' && depth === 0)
  const close = words.findIndex(({ text, depth }, index) => index > open && text === ')' && depth === 0)
  const parts: Word[][] = [[]]
  for (const word of words.slice(open + 1, close)) {
    if (word.text === ',' && word.depth === 1) parts.push([])
    else parts.at(-1)?.push(word)
  }
  return parts
}

/** The words after the list. */
export function afterList(words: readonly Word[]): readonly Word[] {
  return words.slice(words.findIndex(({ text, depth }) => text === ')' && depth === 0) + 1)
}

/** The SQL from the first to the last of the words. */
export function textOf(sql: string, words: readonly Word[]): string {
  return sql.slice(words[0]?.start ?? 0, words.at(-1)?.end ?? 0)
}
