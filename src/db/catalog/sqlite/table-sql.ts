import { isKeyword, listOf, nameOf, textOf, type Word, wordsOf } from './words.js'

/*
 * The text of a CREATE TABLE of SQLite in parts, so that one column or one constraint can be changed, and all that people wrote remains as they wrote it.
 */

export interface ColumnClause {
  readonly kind:
    | 'primary key'
    | 'not null'
    | 'null'
    | 'unique'
    | 'check'
    | 'default'
    | 'collate'
    | 'references'
    /** Of a foreign key before it, where another clause stands between the two. */
    | 'deferrable'
    | 'generated'
  /** Of CONSTRAINT, before it. */
  readonly name: string | undefined
  readonly text: string
}

export interface ColumnSql {
  readonly kind: 'column'
  readonly name: string
  readonly quotedName: string
  readonly type: string
  readonly clauses: readonly ColumnClause[]
}

export interface ConstraintSql {
  readonly kind: 'constraint'
  /** `FOREIGN`, `UNIQUE`, `PRIMARY`, `CHECK` */
  readonly keyword: string
  readonly name: string | undefined
  /** Those in the first parentheses; empty for a CHECK. */
  readonly columns: readonly string[]
  readonly text: string
}

export interface TableSql {
  readonly parts: readonly (ColumnSql | ConstraintSql)[]
  /** `WITHOUT ROWID`, or nothing. */
  readonly end: string
}

/** @returns undefined for what is made in another way, such as a virtual table. */
export function readTableSql(sql: string): TableSql | undefined {
  const words = wordsOf(sql)
  const [first, second] = words
  const close = words.find(({ text, depth }) => text === ')' && depth === 0)
  if (!close || !isKeyword(first, 'CREATE') || isKeyword(second, 'VIRTUAL')) return undefined
  return { parts: listOf(words).flatMap((part) => partsOf(sql, part)), end: sql.slice(close.end).trim() }
}

export function writeTableSql(name: string, { parts, end }: TableSql): string {
  const lines = parts.map((part) => (part.kind === 'column' ? columnText(part) : part.text))
  return `CREATE TABLE ${name} (\n  ${lines.join(',\n  ')}\n)${end === '' ? '' : ` ${end}`}`
}

function columnText({ quotedName, type, clauses }: ColumnSql): string {
  return [quotedName, type, ...clauses.map(({ text }) => text)].filter((text) => text !== '').join(' ')
}

/** In upper case; empty for what is quoted, or in parentheses. */
function keywordOf(word: Word | undefined): string {
  return word && !word.isQuoted && word.depth === 1 ? word.value : ''
}

const CONSTRAINTS: ReadonlySet<string> = new Set(['CONSTRAINT', 'PRIMARY', 'UNIQUE', 'CHECK', 'FOREIGN'])

/** What is between two commas: a column, or constraints, which may follow each other without a comma. */
function partsOf(sql: string, words: readonly Word[]): (ColumnSql | ConstraintSql)[] {
  if (!CONSTRAINTS.has(keywordOf(words[0]))) return words[0] ? [columnOf(sql, words[0], words.slice(1))] : []
  // A constraint with a name begins with it.
  const isNamed = (index: number) =>
    [words[index - 1], words[index - 2]].some((word) => keywordOf(word) === 'CONSTRAINT')
  const starts = words.flatMap((word, index) => (CONSTRAINTS.has(keywordOf(word)) && !isNamed(index) ? [index] : []))
  return starts.map((start, index) => constraintOf(sql, words.slice(start, starts[index + 1])))
}

function constraintOf(sql: string, words: readonly Word[]): ConstraintSql {
  const isNamed = keywordOf(words[0]) === 'CONSTRAINT'
  const keyword = keywordOf(isNamed ? words[2] : words[0])
  return {
    kind: 'constraint',
    keyword,
    name: isNamed ? nameOf(words[1]) : undefined,
    columns: keyword === 'CHECK' ? [] : columnsIn(words),
    text: textOf(sql, words),
  }
}

/** The names in the first parentheses. */
function columnsIn(words: readonly Word[]): string[] {
  const open = words.findIndex(({ text, depth }) => text === '(' && depth === 1)
  const inside = words.slice(open + 1, open < 0 ? 0 : groupEnd(words, open))
  return inside.flatMap((word, index) => {
    const isFirst = index === 0 || (inside[index - 1]?.text === ',' && word.depth === 2)
    return isFirst ? nameOf(word) : []
  })
}

/** Where the parentheses are closed that a word opens. */
function groupEnd(words: readonly Word[], open: number): number {
  return words.findIndex(({ text, depth }, index) => index > open && text === ')' && depth === words[open]?.depth)
}

function columnOf(sql: string, name: Word, words: readonly Word[]): ColumnSql {
  const found = words.findIndex((word) => CLAUSES.has(keywordOf(word)))
  const end = found < 0 ? words.length : found
  return {
    kind: 'column',
    name: nameOf(name),
    quotedName: name.text,
    type: textOf(sql, words.slice(0, end)),
    clauses: clausesOf(sql, words.slice(end)),
  }
}

const CLAUSES: ReadonlyMap<string, ColumnClause['kind']> = new Map([
  ['PRIMARY', 'primary key'],
  ['NOT', 'not null'],
  ['NULL', 'null'],
  ['UNIQUE', 'unique'],
  ['CHECK', 'check'],
  ['DEFAULT', 'default'],
  ['COLLATE', 'collate'],
  ['REFERENCES', 'references'],
  ['DEFERRABLE', 'deferrable'],
  ['GENERATED', 'generated'],
  ['AS', 'generated'],
  ['CONSTRAINT', 'check'], // the name before one of them
])

function clausesOf(sql: string, words: readonly Word[]): ColumnClause[] {
  const clauses: ColumnClause[] = []
  for (let at = 0; at < words.length;) {
    const start = at
    const isNamed = keywordOf(words[at]) === 'CONSTRAINT'
    if (isNamed) at += 2
    const kind = kindAt(words, at)
    at = clauseEnd(kind, words, at)
    const name = isNamed ? nameOf(words[start + 1]) : undefined
    clauses.push({ kind, name, text: textOf(sql, words.slice(start, at)) })
  }
  return clauses
}

function kindAt(words: readonly Word[], at: number): ColumnClause['kind'] {
  const isNotDeferrable = keywordOf(words[at]) === 'NOT' && keywordOf(words[at + 1]) === 'DEFERRABLE'
  return isNotDeferrable ? 'deferrable' : (CLAUSES.get(keywordOf(words[at])) ?? 'check')
}

/** Where the value ends that begins at a word: `- 1`, `x'00'`, `1.5e+3`, `(1 + 2)`. */
function valueEnd(words: readonly Word[], start: number): number {
  if (words[start]?.text === '(') return groupEnd(words, start) + 1
  let at = start + (words[start]?.text === '-' || words[start]?.text === '+' ? 2 : 1)
  while (words[at]?.start === words[at - 1]?.end && !CLAUSES.has(keywordOf(words[at]))) at++
  return Math.min(at, words.length)
}

/** Where the clause ends that begins at a word: the keywords NULL, NOT and DEFAULT are also parts of others. */
function clauseEnd(kind: ColumnClause['kind'], words: readonly Word[], start: number): number {
  let at = start + 1
  if (kind === 'default') return valueEnd(words, at)
  if (kind === 'not null' || kind === 'collate' || keywordOf(words[start]) === 'NOT') at++
  while (at < words.length) {
    const keyword = keywordOf(words[at])
    const isAction = kind === 'references' && ['SET', 'INITIALLY'].includes(keywordOf(words[at - 1]))
    const isDeferrable = kind === 'references' && kindAt(words, at) === 'deferrable'
    const isAs = kind === 'generated' && keyword === 'AS'
    if (CLAUSES.has(keyword) && !isAction && !isDeferrable && !isAs) return at
    at++
  }
  return at
}
