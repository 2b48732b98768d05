import type { Constraint, ForeignKey } from '../catalog.js'
import { type ColumnClause, type ColumnSql, type ConstraintSql, readTableSql } from './table-sql.js'
import { isKeyword, nameOf, textOf, wordsOf } from './words.js'

/** What only the text of a CREATE TABLE says. */
export interface TableDetails {
  /** By the names of the columns. */
  readonly columns: ReadonlyMap<string, ColumnDetails>
  readonly primaryKeyName: string | undefined
  /** In the order of the text. */
  readonly foreignKeys: readonly Pick<ForeignKey, 'name' | 'deferrable'>[]
  readonly uniques: readonly Constraint[]
  /** Their names, or their SQL. */
  readonly checks: readonly string[]
}

export interface ColumnDetails {
  readonly collation?: string
  readonly isAutoincrement: boolean
  /** The expression of a generated column. */
  readonly generated?: string
}

/** A constraint of the table, or one of a column, which is a clause of it. */
interface AnyConstraint extends Pick<ColumnClause, 'name' | 'text'> {
  readonly keyword: string
  readonly columns: readonly string[]
}

export function tableDetails(sql: string): TableDetails {
  const parts = readTableSql(sql)?.parts ?? []
  const constraints = parts.flatMap(constraintsOf)
  const of = (keyword: string) => constraints.filter((one) => one.keyword === keyword)
  return {
    columns: new Map(parts.flatMap((part) => (part.kind === 'column' ? [[part.name, columnDetails(part)]] : []))),
    primaryKeyName: of('PRIMARY')[0]?.name,
    foreignKeys: of('FOREIGN').map(({ name, text }) => ({ ...named(name), ...deferrable(text) })),
    uniques: of('UNIQUE').map(({ name, columns }) => ({ ...named(name), columns })),
    checks: of('CHECK').map(({ name, text }) => name ?? groupText(text)),
  }
}

const KEYWORDS: Partial<Record<ColumnClause['kind'], string>> = {
  'primary key': 'PRIMARY',
  unique: 'UNIQUE',
  check: 'CHECK',
  references: 'FOREIGN',
}

function constraintsOf(part: ColumnSql | ConstraintSql): AnyConstraint[] {
  if (part.kind === 'constraint') return [part]
  return part.clauses.flatMap(({ kind, name, text }, index) => {
    const keyword = KEYWORDS[kind]
    const texts = [text, ...(kind === 'references' ? deferrableAfter(part.clauses.slice(index + 1)) : [])]
    return keyword === undefined ? [] : [{ keyword, name, text: texts.join(' '), columns: [part.name] }]
  })
}

/** The clauses of a foreign key that stand before the next one. */
function deferrableAfter(clauses: readonly ColumnClause[]): string[] {
  const next = clauses.findIndex(({ kind }) => kind === 'references')
  const own = next < 0 ? clauses : clauses.slice(0, next)
  return own.flatMap(({ kind, text }) => (kind === 'deferrable' ? [text] : []))
}

function named(name: string | undefined): { name?: string } {
  return name === undefined ? {} : { name }
}

function deferrable(text: string): Pick<ForeignKey, 'deferrable'> {
  const words = wordsOf(text)
  const place = words.findIndex((word) => isKeyword(word, 'DEFERRABLE'))
  if (place < 0 || isKeyword(words[place - 1], 'NOT')) return {}
  const isDeferred = isKeyword(words[place + 1], 'INITIALLY') && isKeyword(words[place + 2], 'DEFERRED')
  return { deferrable: isDeferred ? 'deferred' : 'immediate' }
}

function columnDetails({ clauses }: ColumnSql): ColumnDetails {
  const textsOf = (kind: ColumnClause['kind']) => clauses.filter((one) => one.kind === kind).map(({ text }) => text)
  const [collation] = textsOf('collate').map((text) => nameOf(wordsOf(text)[1]))
  const [generated] = textsOf('generated').map(groupText)
  return {
    ...(collation === undefined ? {} : { collation }),
    isAutoincrement: textsOf('primary key').some((text) =>
      wordsOf(text).some((word) => isKeyword(word, 'AUTOINCREMENT')),
    ),
    ...(generated === undefined ? {} : { generated }),
  }
}

/** The SQL between the first parentheses. */
function groupText(sql: string): string {
  const words = wordsOf(sql)
  const open = words.findIndex(({ text }) => text === '(')
  const close = words.findIndex(({ text, depth }) => text === ')' && depth === words[open]?.depth)
  return textOf(sql, words.slice(open + 1, close))
}
