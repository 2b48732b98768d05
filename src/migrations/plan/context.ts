import type { Catalog, Column, DatabaseKind, ForeignKey, Table, TableName } from '../../db/catalog/catalog.js'
import type { ModelCatalog } from '../catalog/model-tables.js'
import { type Change, changesOf, displayOfColumn, isSameTable } from '../difference/change.js'
import type { Facts } from './facts.js'
import { cutName, quote, quoteTable, suffixedName } from './names.js'

/** What the steps of all changes need to know. */
export class PlanContext {
  readonly kind: DatabaseKind
  /** The database as it is, with the old names. */
  readonly database: Catalog
  readonly models: ModelCatalog
  readonly changes: readonly Change[]
  readonly facts: Facts
  /** Why there can be no plan. */
  readonly problems: string[] = []
  readonly #backfills: ReadonlyMap<string, string | undefined>
  readonly #casts: ReadonlyMap<string, string | undefined>
  readonly #usedBackfills = new Set<string>()
  readonly #taken: Set<string>

  constructor(options: {
    readonly database: Catalog
    readonly models: ModelCatalog
    readonly changes: readonly Change[]
    readonly facts: Facts
    readonly backfills: ReadonlyMap<string, string | undefined>
    readonly casts: ReadonlyMap<string, string | undefined>
  }) {
    this.database = options.database
    this.kind = options.database.kind
    this.models = options.models
    this.changes = options.changes
    this.facts = options.facts
    this.#backfills = options.backfills
    this.#casts = options.casts
    // Tables and indexes share their names on PostgreSQL: CREATE INDEX IF NOT EXISTS would take a table for the index.
    this.#taken = new Set(options.database.tables.flatMap((table) => [table.name, ...namesIn(table)]))
  }

  quote(name: string): string {
    return quote(this.kind, name)
  }

  table(table: TableName): string {
    return quoteTable(this.kind, table)
  }

  /** The value, as SQL, of rows that have none. */
  backfill(table: TableName, { name }: Column): string | undefined {
    const key = displayOfColumn(table, name)
    this.#usedBackfills.add(key)
    return this.#backfills.get(key)
  }

  /** Backfills that no step has asked for: known when the steps are planned. */
  unusedBackfills(): string[] {
    return [...this.#backfills.keys()].filter((name) => !this.#usedBackfills.has(name))
  }

  /** The new value, as SQL; undefined if people did not agree to a cast. Without SQL it is the cast of the database. */
  cast(table: TableName, { name }: Pick<Column, 'name'>): { readonly sql: string | undefined } | undefined {
    const key = displayOfColumn(table, name)
    return this.#casts.has(key) ? { sql: this.#casts.get(key) } : undefined
  }

  /** A name that no index, no constraint and no table has: this one, or one with a number. */
  freeName(wanted: string): string {
    let name = cutName(this.kind, wanted)
    for (let number = 2; this.#taken.has(name); number++) name = suffixedName(this.kind, wanted, `_${number}`)
    this.#taken.add(name)
    return name
  }

  /** The table as the database has it now, before the renames. */
  current(table: TableName): Table | undefined {
    const rename = changesOf(this.changes, 'rename table').find((change) =>
      isSameTable({ ...change.table, name: change.to }, table),
    )
    const name = rename?.table ?? table
    return this.database.tables.find((candidate) => isSameTable(candidate, name))
  }

  /** The column's name before the renames; undefined for a new one. */
  currentColumn(table: TableName, column: string): string | undefined {
    const current = this.current(table)
    const rename = changesOf(this.changes, 'rename column').find(
      (change) => change.to === column && current && isSameTable(change.table, current),
    )
    const name = rename?.column.name ?? column
    return current?.columns.some((candidate) => candidate.name === name) ? name : undefined
  }

  isRenamed(table: TableName): boolean {
    const current = this.current(table)
    const renames = changesOf(this.changes, 'rename table', 'rename column')
    return renames.some((change) => current !== undefined && isSameTable(change.table, current))
  }

  async rows(table: TableName): Promise<number | undefined> {
    const current = this.current(table)
    return current && this.facts.rows(current)
  }

  /** How many rows fit the condition, which is made of the current names of the columns; 0 if one of them is new. */
  async count(
    table: TableName,
    columns: readonly string[],
    condition: (names: readonly string[], table: string) => string,
  ): Promise<number> {
    const current = this.current(table)
    const names = columns.map((column) => this.currentColumn(table, column))
    const known = names.flatMap((name) => (name === undefined ? [] : [this.quote(name)]))
    if (!current || known.length < columns.length) return 0
    return this.facts.count(condition(known, this.table(current)))
  }

  nulls(table: TableName, { name }: Column): Promise<number> {
    return this.count(
      table,
      [name],
      ([column], from) => `SELECT count(*) AS count FROM ${from} WHERE ${column} IS NULL`,
    )
  }

  duplicates(table: TableName, columns: readonly string[]): Promise<number> {
    return this.count(table, columns, (names, from) => {
      const conditions = names.map((name) => `${name} IS NOT NULL`).join(' AND ')
      const grouped = `SELECT count(*) - 1 AS surplus FROM ${from} WHERE ${conditions} GROUP BY ${names.join(', ')} HAVING count(*) > 1`
      return `SELECT coalesce(sum(surplus), 0) AS count FROM (${grouped}) AS duplicates`
    })
  }

  /** The rows whose foreign key finds no row. */
  orphans(table: TableName, key: ForeignKey): Promise<number> {
    const target = this.current(key.table)
    const references = key.references.map((column) => this.currentColumn(key.table, column) ?? column)
    return this.count(table, key.columns, (names, from) => {
      const given = names.map((name) => `child.${name} IS NOT NULL`).join(' AND ')
      const start = `SELECT count(*) AS count FROM ${from} AS child WHERE ${given}`
      if (!target) return start
      const match = names.map((name, index) => `parent.${this.quote(references[index] ?? '')} = child.${name}`)
      return `${start} AND NOT EXISTS (SELECT 1 FROM ${this.table(target)} AS parent WHERE ${match.join(' AND ')})`
    })
  }
}

function namesIn({ indexes, uniques, foreignKeys, primaryKey }: Table): string[] {
  const all = [...indexes, ...uniques, ...foreignKeys, ...(primaryKey ? [primaryKey] : [])]
  return all.flatMap(({ name }) => name ?? [])
}
