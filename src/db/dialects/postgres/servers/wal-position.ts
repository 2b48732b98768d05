import { type PgClient, pgClientOf } from '../../../drivers/pg.js'

/*
 * Positions in a server's log of changes (LSN): the end of what a primary has written, and of what a standby has replayed.
 */

export const WRITTEN = 'SELECT pg_current_wal_insert_lsn() AS position'
export const REPLAYED = 'SELECT pg_last_wal_replay_lsn() AS position'

export function readPosition(client: PgClient, sql: string): Promise<bigint> {
  return new Promise((resolve, reject) =>
    client.query(sql, (error, result) => {
      if (error) return reject(error)
      const [row] = result.rows as readonly { readonly position: string | null }[]
      const [high, low] = row?.position?.split('/') ?? []
      if (high === undefined || low === undefined) return reject(new Error('The server is not a standby.'))
      resolve((BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`))
    }),
  )
}

// Between two pages, the primary reports where the next record begins, after the header of its page; a standby reports where the last one ended.
export function withoutPageHeader(position: bigint): bigint {
  const offset = position % 8192n
  return offset === 24n || offset === 40n ? position - offset : position
}

/** The position that a standby reaches when it has replayed all that this primary has written, in hexadecimal digits. */
export async function writtenPosition(connection: unknown): Promise<string> {
  return withoutPageHeader(await readPosition(pgClientOf(connection), WRITTEN)).toString(16)
}

/** Undefined for a text that {@link writtenPosition} has not returned. */
export function parsePosition(text: string): bigint | undefined {
  return /^[\da-f]{1,16}$/.test(text) ? BigInt(`0x${text}`) : undefined
}
