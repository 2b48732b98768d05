import type { OwnDatabase } from '../../db/own-tables/own-database.js'
import { rawSql, sql } from '../../db/statements/statement.js'
import { LOCK_CLASS } from '../topic.js'
import type { Publishers } from './offsets.js'
import type { RelayStatements } from './statements.js'

/*
 * Whoever publishes takes a lock of this class before its positions are drawn, and has it until its commit is visible. The statement sees the last position by its snapshot, and
 * the locks after it.
 */
const LOOK = sql<{ readonly last: string | null; readonly pending: string | null }>`
  SELECT (SELECT max(position) FROM feed_event) AS last, (
    SELECT string_agg(virtualtransaction, ' ') FROM pg_locks
    WHERE locktype = 'advisory' AND classid = ${rawSql(String(LOCK_CLASS))} AND objsubid = 2 AND granted
      AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  ) AS pending`

/** On PostgreSQL. */
export function lockingPublishers(database: OwnDatabase): Publishers {
  return {
    async look() {
      const [row] = await database.read(LOOK)
      return { last: row?.last ?? '0', pending: new Set(row?.pending?.split(' ')) }
    },
  }
}

/** On SQLite one transaction writes at a time: no one has a position that is lower than a visible one. */
export function singlePublisher(database: OwnDatabase, { last }: RelayStatements): Publishers {
  return {
    async look() {
      const [row] = await database.read(last)
      return { last: String(row?.last ?? 0), pending: new Set() }
    },
  }
}
