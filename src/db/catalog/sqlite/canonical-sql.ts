import { nameOf, type Word, wordsOf } from './words.js'

/** A word, or what is between two parentheses. */
type Node = string | readonly Node[]

/**
 * An expression in one spelling: equal for two that differ in spaces, case, the quotes of names, comments, or parentheses that mean nothing. SQLite keeps them as
 * they were written.
 */
export function canonicalSql(sql: string): string {
  return textOf(bare(nodesOf(wordsOf(sql))))
}

function nodesOf(words: readonly Word[]): readonly Node[] {
  const groups: Node[][] = [[]]
  for (const word of words) {
    const inner = word.isQuoted || word.text !== ')' || groups.length === 1 ? undefined : groups.pop()
    if (inner) groups.at(-1)?.push(inner)
    else if (!word.isQuoted && word.text === '(') groups.push([])
    else groups.at(-1)?.push(wordText(word))
  }
  return groups.flat()
}

const SYNONYMS: Readonly<Record<string, string>> = { '==': '=', '!=': '<>' }

function wordText(word: Word): string {
  if (word.text.startsWith("'")) return word.text
  const name = nameOf(word).toLowerCase()
  // A quoted word may be a name that is a keyword elsewhere.
  return word.isQuoted && (!/^[a-z_]\w*$/.test(name) || KEYWORDS.has(name)) ? `"${name}"` : (SYNONYMS[name] ?? name)
}

const KEYWORDS: ReadonlySet<string> = new Set(
  'and or not is null in between like glob case when then else end collate exists select true false'.split(' '),
)
/** After these, parentheses are neither those of a function nor a list. */
const BEFORE_VALUE: ReadonlySet<Node | undefined> = new Set(
  'and or not is between like glob case when then else'.split(' '),
)

/** Without the parentheses around the whole, and those around a part that mean nothing. */
function bare(nodes: readonly Node[]): readonly Node[] {
  const parts = nodes.flatMap((node, index): readonly Node[] => {
    if (typeof node === 'string') return [node]
    const inner = bare(node)
    const before = isAndOfBetween(nodes, index - 1) ? 'between' : nodes[index - 1]
    return isNeedless(inner, before, nodes[index + 1]) ? inner : [inner]
  })
  const [only, second] = parts
  return typeof only === 'object' && second === undefined ? bare(only) : parts
}

/** Whether it is the AND of a BETWEEN, which binds closer than others. */
function isAndOfBetween(nodes: readonly Node[], index: number): boolean {
  if (nodes[index] !== 'and') return false
  const before = nodes.slice(0, index)
  return before.lastIndexOf('between') > before.lastIndexOf('and')
}

function isNeedless(inner: readonly Node[], before: Node | undefined, after: Node | undefined): boolean {
  if (inner.length === 0 || inner.includes('select') || inner.includes(',')) return false
  const isValue = before === undefined || BEFORE_VALUE.has(before) || /^[^\w"']+$/.test(String(before))
  if (inner.length === 1) return isValue && typeof inner[0] === 'string'
  const isBetween = (...neighbors: readonly (Node | undefined)[]) =>
    [before, after].every((node) => neighbors.includes(node))
  if (inner.includes('or')) return isBetween(undefined, 'or')
  return isBetween(undefined, 'or', 'and')
}

function textOf(nodes: readonly Node[]): string {
  return nodes.map((node) => (typeof node === 'string' ? node : `(${textOf(node)})`)).join(' ')
}
