/** The values of a statement, in the order of its placeholders, or by their names: `{ $1: 7 }`. */
export type BoundValues = readonly unknown[] | Readonly<Record<string, unknown>>

/** Values by the names of their placeholders, in the form in which sqlite3 binds them as Sequelize does; undefined if there are none. */
export function boundValues(sql: string, named: object): BoundValues | undefined {
  const entries = Object.entries(named)
  return bound(
    sql,
    entries.map(([name]) => name),
    entries.map(([, value]) => value),
  )
}

/** The same for the values of the placeholders `$1`, `$2`. @param isInOrder whether the SQL has just these, in this order. */
export function numberedValues(values: readonly unknown[], isInOrder: boolean): BoundValues | undefined {
  if (values.length === 0) return undefined
  return isInOrder
    ? values.map(toBindable)
    : Object.fromEntries(values.map((value, at) => [`$${at + 1}`, toBindable(value)]))
}

/** The number of the placeholders `$1`, `$2`, if the SQL has no others and they are in this order. */
export function placeholdersInOrder(sql: string): number | undefined {
  if (sql.length > MAX_SQL_LENGTH) return undefined
  const found = sql.match(PLACEHOLDER) ?? []
  return found.every((name, at) => name === `$${at + 1}`) ? found.length : undefined
}

function toBindable(value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value // sqlite3 binds no bigint
}

function bound(sql: string, names: readonly string[], values: readonly unknown[]): BoundValues | undefined {
  if (names.length === 0) return undefined
  const bindable = values.map(toBindable)
  if (hasPlaceholders(sql, names)) return bindable
  return Object.fromEntries(names.map((name, index) => [name, bindable[index]]))
}

/** The beginning of every placeholder of SQLite, and also other uses of its characters. */
const PLACEHOLDER = /[$?:@#][\w$(\u0080-\uffff]*/g
/** Characters of SQL that is searched for placeholders. */
const MAX_SQL_LENGTH = 10_000

// Values are bound by name where the SQL has other placeholders, or the same in another order. Binding by position is faster.
function hasPlaceholders(sql: string, names: readonly string[]): boolean {
  if (sql.length > MAX_SQL_LENGTH) return false
  const found = sql.match(PLACEHOLDER) ?? []
  return found.length === names.length && names.every((name, index) => found[index] === name)
}
