import { laterStatements } from './later-statements.js'
import { StatementReader } from './statement-reader.js'
import { startsWithKeyword } from './starts-with-keyword.js'
import { mayWrite } from './writes.js'

/** Stands for all tables, where it is not known which ones a statement writes. */
export const ALL_TABLES = '*'

/** A table that a statement writes. */
export interface WrittenTable {
  readonly table: string
  /** Whether rows of it may be deleted: the database may then change rows that refer to them. */
  readonly deletes: boolean
}

/**
 * The tables of a statement: their names in lower case, without schemas and quotes, so that one name may stand for several tables. Without those that the database
 * itself reads, as for a view, or writes, as for a trigger.
 */
export interface StatementTables {
  readonly named: readonly string[]
  readonly written: readonly WrittenTable[]
}

/** Of how many statements a process keeps the tables, and of how many characters they have at most. */
const MAX_KNOWN = 1_000
const MAX_KEPT = 4_000
/** How much of a long INSERT is read: its rows name no tables. */
const MAX_INSERT = 8_000

const known = new Map<string, StatementTables>()

export function tablesOfStatement(sql: string, dialect: string): StatementTables {
  const found = known.get(sql)
  if (found) return found
  const tables = readTables(sql, dialect)
  if (sql.length > MAX_KEPT) return tables
  if (known.size >= MAX_KNOWN) known.clear()
  known.set(sql, tables)
  return tables
}

function readTables(sql: string, dialect: string): StatementTables {
  const all = [sql, ...laterStatements(sql, dialect)].map((text) => tablesOfFirst(text, dialect))
  const [first = NO_TABLES, ...others] = all
  if (others.length === 0) return first
  return { named: all.flatMap(({ named }) => named), written: all.flatMap(({ written }) => written) }
}

const NO_TABLES: StatementTables = { named: [], written: [] }

const isInsert = startsWithKeyword('INSERT', 'REPLACE')
const isOfSession = startsWithKeyword(
  '(?:SET|RESET|LOCK|UNLOCK|DECLARE|FETCH|MOVE|CLOSE|NOTIFY|LISTEN|UNLISTEN|ANALYZE|DISCARD|DEALLOCATE|USE|ATTACH|DETACH)',
)
/** Sequelize's findOrCreate() on PostgreSQL. */
const isTemporaryFunction = startsWithKeyword(
  '(?:CREATE|DROP)(?:\\s+OR\\s+REPLACE)?\\s+FUNCTION(?:\\s+IF\\s+EXISTS)?\\s+pg_temp',
)

function tablesOfFirst(sql: string, dialect: string): StatementTables {
  const text = sql.length > MAX_INSERT && isInsert(sql) ? sql.slice(0, MAX_INSERT) : sql
  const { named, written } = new Tables().of(text, dialect)
  if (!mayWrite(sql) || isOfSession(sql)) return { named, written: [] }
  if (isTemporaryFunction(sql)) return new Tables().of(bodyOf(sql), dialect)
  if (written.length === 0 || !isKnown(sql)) return { named, written: [{ table: ALL_TABLES, deletes: true }] }
  return { named, written: replacesRows(sql) ? written.map(({ table }) => ({ table, deletes: true })) : written }
}

/** Whether the tables that the statement writes follow its keywords. */
const isKnown = startsWithKeyword('(?:INSERT|UPDATE|DELETE|REPLACE|MERGE|WITH)')

/** SQLite deletes the rows that are in the way of others. */
const replacesRows = startsWithKeyword('(?:INSERT|UPDATE)\\s+OR\\s+REPLACE')

function bodyOf(sql: string): string {
  const begin = sql.indexOf('BEGIN')
  return begin < 0 ? '' : sql.slice(begin + 'BEGIN'.length)
}

/** The names of all tables in a text with SQL in it, such as the definition of a view, or of a trigger. */
export function tablesNamedIn(sql: string, dialect: string): readonly string[] {
  return new Tables().of(sql, dialect).named
}

const KEEPS_ROWS: ReadonlySet<string> = new Set(['INSERT', 'UPDATE'])

class Tables extends StatementReader {
  readonly #named = new Set<string>()
  readonly #written = new Map<string, WrittenTable>()

  of(sql: string, dialect: string): StatementTables {
    this.readAll(sql, dialect)
    return { named: [...this.#named], written: [...this.#written.values()] }
  }

  protected override addOperation(): void {}

  protected override addTable(parts: readonly string[], operation: string): void {
    const table = plainName(parts.at(-1) ?? '')
    this.#named.add(table)
    if (operation === 'SELECT') return
    const deletes = !KEEPS_ROWS.has(operation) || this.#written.get(table)?.deletes === true
    this.#written.set(table, { table, deletes })
  }
}

function plainName(name: string): string {
  const isQuoted = /^["`[]./.test(name)
  return (isQuoted ? name.slice(1, -1) : name).toLowerCase()
}
