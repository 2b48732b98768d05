import type { LeasedConnection } from '../../connection.js'
import type { ConnectionLimit } from '../../dialect.js'
import { clientInternals, pgClientOf } from '../../drivers/pg.js'

/** Undefined behind a pooler: the connection is numbered by that, and its server's limit is not the app's. */
export async function readConnectionLimit(connection: LeasedConnection): Promise<ConnectionLimit | undefined> {
  const client = pgClientOf(connection.raw)
  const row = await new Promise<unknown>((resolve) =>
    // Other servers with this protocol have other settings.
    client.query(CONNECTION_LIMIT, (error, result) => resolve(error ? undefined : result.rows[0])),
  )
  await connection.release()
  if (row === undefined) return undefined
  const { pid, most, reserved } = row as Readonly<Record<'pid' | 'most' | 'reserved', number>> // its columns
  if (most <= 0 || pid !== clientInternals(client).processID) return undefined
  return { most: most - reserved, arithmetic: `max_connections ${most} - ${reserved} reserved` }
}

// PostgreSQL 16 has reserved_connections.
const CONNECTION_LIMIT = `SELECT pg_backend_pid() AS pid, current_setting('max_connections')::int AS most,
  current_setting('superuser_reserved_connections')::int + coalesce(current_setting('reserved_connections', true)::int, 0) AS reserved`
