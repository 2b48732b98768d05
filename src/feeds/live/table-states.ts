import type { OwnDatabase } from '../../db/own-tables/own-database.js'
import { TypedSql } from '../../db/own-tables/typed-sql.js'
import { rawSql, type Sql, sql } from '../../db/statements/statement.js'

/** A text for each table that is another one when the table was changed. It may also be another one without a change. */
export type TableStates = ReadonlyMap<string, string>

interface StateRow {
  readonly name: string
  readonly state: string
}

/** Reads the states of tables, whoever has changed them. @throws the error of the database. */
export async function readTableStates(database: OwnDatabase, tables: readonly string[]): Promise<TableStates> {
  if (tables.length === 0) return new Map()
  const { dialect } = database
  if (dialect === 'sqlite') return stateOfFile(database, tables)
  const names = new TypedSql(dialect).texts(tables)
  const rows = await database.read<StateRow>(dialect === 'postgres' ? onPostgres(names) : onMysql(names))
  return new Map(rows.map(({ name, state }) => [name, dialect === 'postgres' ? state : settled(state)]))
}

// Each row that was written counts, also of transactions that were rolled back. A server process reports its counts within ten seconds. TRUNCATE counts nothing,
// and makes a new file. A partitioned table has no rows of its own.
function onPostgres(names: Sql): Sql<StateRow> {
  return sql<StateRow>`WITH RECURSIVE part(name, oid) AS (
      SELECT lower(relname), oid FROM pg_class WHERE relkind IN ('r', 'p', 'm') AND lower(relname) IN (${names})
      UNION SELECT part.name, i.inhrelid FROM part JOIN pg_inherits i ON i.inhparent = part.oid)
    SELECT part.name::text AS name, concat_ws(' ',
      sum(pg_stat_get_tuples_inserted(part.oid) + pg_stat_get_tuples_updated(part.oid) + pg_stat_get_tuples_deleted(part.oid)),
      sum(c.relfilenode::bigint)) AS state
    FROM part JOIN pg_class c ON c.oid = part.oid GROUP BY part.name`
}

// The time of the last commit, in seconds. Undefined if there was none since the server has started.
function onMysql(names: Sql): Sql<StateRow> {
  return sql<StateRow>`SELECT LOWER(table_name) AS name,
      CONCAT(COALESCE(UNIX_TIMESTAMP(update_time), 0), ' ', UNIX_TIMESTAMP()) AS state
    FROM information_schema.tables WHERE table_schema = DATABASE() AND table_name IN (${names})`
}

// What is committed later in the same second has the same time: the state is another one the next time.
function settled(state: string): string {
  const [updated, now] = state.split(' ')
  return Number(updated) >= Number(now) ? state : String(updated)
}

/** Counts the commits of other processes: those of the connection that writes are not counted. */
const DATA_VERSION: Sql<{ readonly data_version: number }> = { ...sql`${rawSql('PRAGMA data_version')}` }

async function stateOfFile(database: OwnDatabase, tables: readonly string[]): Promise<TableStates> {
  const [row] = await database.transaction((session) => session.executeOwn(DATA_VERSION))
  return new Map(tables.map((name) => [name, String(row?.data_version)]))
}
