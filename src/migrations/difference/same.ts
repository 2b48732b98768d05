import type { Column, DatabaseKind, ForeignKey, Index, IndexPart } from '../../db/catalog/catalog.js'
import { canonicalSql } from '../../db/catalog/sqlite/canonical-sql.js'
import { displayOf } from './change.js'

/** Types that Sequelize has no name for, and the type of the model that reads and writes them. */
const FOREIGN_TYPES: Readonly<Record<DatabaseKind, readonly (readonly [database: RegExp, model: RegExp])[]>> = {
  postgres: [
    [/^timestamp(?:\(\d\))? without time zone(\[\])?$/, /^timestamp(?:\(\d\))? with time zone(\[\])?$/],
    [/^name$/, /^(?:character varying(?:\(\d+\))?|text)$/],
  ],
  mysql: [[/^timestamp(?:\(\d\))?$/, /^datetime(?:\(\d\))?$/]],
  mariadb: [[/^timestamp(?:\(\d\))?$/, /^datetime(?:\(\d\))?$/]],
  sqlite: [
    [/^$/, /^blob$/],
    // But for the number of the row, the two are one.
    [/^int$/, /^integer$/],
  ],
}

/**
 * Whether the column of the database has the type of the model's. Values of an enum are compared elsewhere. A domain, which models cannot name, is the type
 * whose values it limits.
 */
export function hasSameType(kind: DatabaseKind, from: Column, to: Column): boolean {
  if (to.collation !== undefined && to.collation !== from.collation) return false
  if (from.enumValues && to.enumValues) return from.type.endsWith('[]') === to.type.endsWith('[]')
  if (from.enumValues || to.enumValues) return false
  const other = to.type.toLowerCase()
  return [from.type, from.baseType ?? from.type].some((type) => {
    const one = type.toLowerCase()
    return one === other || FOREIGN_TYPES[kind].some(([database, model]) => database.test(one) && model.test(other))
  })
}

/** Whether the two columns have the same default. On SQLite, whose text is compared without its spelling, a text in double quotes is one, too. */
export function hasSameDefault(kind: DatabaseKind, from: Column, to: Column): boolean {
  const [one, other] = [comparedDefault(from), comparedDefault(to)]
  if (one === other || kind !== 'sqlite' || one === undefined || other === undefined) return one === other
  const text = (sql: string) => canonicalSql(sql.replace(/^"([^"']*)"$/, "'$1'"))
  return text(one) === text(other)
}

export function hasSameValues(one: readonly string[] = [], other: readonly string[] = []): boolean {
  return one.length === other.length && one.every((value) => other.includes(value))
}

/**
 * The default without the name of the enum type: that of the model's may be another one. A number has no quotes, which Sequelize writes for a column of
 * the type REAL.
 */
export function comparedDefault({ default: text, enumValues, type }: Column): string | undefined {
  if (text === undefined) return undefined
  // PostgreSQL keeps the two spellings apart.
  if (/^current_timestamp$/i.test(text)) return 'now()'
  const cast = text.lastIndexOf('::')
  if (enumValues) return cast > text.lastIndexOf("'") ? text.slice(0, cast) : text
  return /^(?:real|float|double)\b/i.test(type) ? text.replace(/^'([+-]?[\d.]{1,40})'$/, '$1') : text
}

/** Equal for two indexes that do the same: their names are not compared. */
export function indexKey(kind: DatabaseKind, { unique, method, columns, where, include }: Index): string {
  const parts = columns.map((part) => partKey(kind, part))
  return JSON.stringify([unique, method, parts, comparedExpression(kind, where), include])
}

/** An expression as it is compared: servers write it again in their own way, SQLite keeps it as it was written. */
export function comparedExpression(kind: DatabaseKind, sql: string | undefined): string | null {
  if (sql === undefined) return null
  return kind === 'sqlite' ? canonicalSql(sql) : withoutCasts(sql)
}

// Of literals: the models' enum type has another name.
function withoutCasts(sql: string): string {
  return sql.replaceAll(/'::[\w$."]{1,200}/g, "'")
}

function partKey(
  kind: DatabaseKind,
  { column, expression, descending, nullsFirst, length, operatorClass, collation }: IndexPart,
): unknown {
  return [
    column ?? null,
    comparedExpression(kind, expression),
    descending,
    nullsFirst ?? null,
    length ?? null,
    operatorClass ?? null,
    collation ?? null,
  ]
}

/** The columns that a unique index makes unique; undefined for one of expressions, prefixes or a part of the rows. */
export function uniqueColumns({ unique, columns, where }: Index): readonly string[] | undefined {
  if (!unique || where !== undefined) return undefined
  const names = columns.flatMap(({ column, length }) => (column === undefined || length !== undefined ? [] : [column]))
  return names.length === columns.length ? names : undefined
}

/** Equal for the same columns in any order. */
export function columnsKey(columns: readonly string[]): string {
  return JSON.stringify([...columns].sort())
}

/** Equal for two foreign keys of the same columns, whatever their actions are. */
export function foreignKeyKey({ columns, table, references }: ForeignKey): string {
  const pairs = columns.map((column, index) => [column, references[index]])
  return JSON.stringify([displayOf(table), pairs.map((pair) => JSON.stringify(pair)).sort()])
}
