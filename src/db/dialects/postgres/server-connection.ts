import { randomUUID } from 'node:crypto'
import { ConnectionError } from 'sequelize'
import { BootError } from '../../../core/boot-error.js'
import type { QueryCallback } from '../../drivers/pg.js'
import type { PipelinedClient, SharedConnection } from './pipelined-client.js'
import { forConnection } from './server-settings.js'

/**
 * Finds out whether a new connection leads to a server process of its own, or to a pooler such as PgBouncer, and sets it up accordingly. A session of a
 * pooler may be its own as well, but nothing shows it: what is right for shared server connections is right for it, too.
 *
 * @throws the error of the server, or of the connection.
 */
export async function examineConnection(client: PipelinedClient): Promise<void> {
  const { prepared } = client.options
  if (prepared === false) return client.share({ isPrepared: false })
  const { isOwn, isolation } = await askServer(client)
  if (isOwn) client.own(isolation)
  else client.share(prepared === undefined ? await askPooler(client) : { isPrepared: prepared })
}

interface Answer {
  readonly isOwn: boolean
  readonly isolation: unknown
}

// YugabyteDB accepts READ COMMITTED where it is not enabled, and uses REPEATABLE READ. It has its own setting for the level in use.
const ISOLATION = `coalesce(current_setting('yb_effective_transaction_isolation_level', true),
  current_setting('default_transaction_isolation', true))`

// One statement, because the next one may be executed by another server process. Servers without numbers of processes are no poolers.
async function askServer(client: PipelinedClient): Promise<Answer> {
  const isOwn = client.processId === null ? 'true' : `pg_backend_pid() = ${client.processId}`
  const [answer] = await query(
    client,
    `SELECT ${isOwn} AS "isOwn", ${ISOLATION} AS isolation,
       CASE WHEN ${isOwn} THEN ${forConnection(client.options.settings)} END AS settings`,
  )
  return answer as Answer // the columns of the statement
}

/**
 * Finds out whether a pooler keeps the prepared statements of each client, as PgBouncer does from 1.21 on with `max_prepared_statements`: it then
 * prepares them under names of its own, so that the server does not know the client's name.
 *
 * @throws BootError if the pooler allows no transactions.
 */
async function askPooler(client: PipelinedClient): Promise<SharedConnection> {
  const name = `sequitur_${randomUUID()}`
  const begun = query(client, 'START TRANSACTION').catch(refuseStatementPooling)
  const found = asPromise((done) => client.queryOnce(name, FIND_STATEMENT, [name], done)).catch(() => undefined) // a server without this view
  const hashed = query(client, HASH_SCHEMA).catch(() => undefined)
  const ended = query(client, 'ROLLBACK')
  const [, names, hashes] = await Promise.all([begun, found, hashed, ended])
  const [{ hash } = { hash: '' }] = (hashes ?? []) as readonly { readonly hash: string }[] // the column of the statement
  return { isPrepared: names?.length === 0, schemaHash: hash }
}

const FIND_STATEMENT = 'SELECT name FROM pg_catalog.pg_prepared_statements WHERE name = $1'

// Not of temporary tables, which come and go.
const HASH_SCHEMA = `SELECT md5(coalesce(string_agg(concat_ws(' ', attrelid, attnum, atttypid, atttypmod, attname), ',' ORDER BY attrelid, attnum), '')) AS hash
  FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_class ON pg_class.oid = attrelid
  WHERE relkind IN ('r', 'p', 'v', 'm', 'f') AND relpersistence <> 't' AND attnum > 0 AND attrelid >= 16384`

function refuseStatementPooling(error: unknown): never {
  if (!(error instanceof Error && error.message.includes('statement pooling mode'))) throw error
  throw new BootError(
    'PgBouncer gives each statement another connection to the database, so that there are no transactions. Set pool_mode = transaction in its configuration.',
    { cause: error },
  )
}

/** The rows of a statement. @throws the error of the server, or ConnectionError. */
export function query(
  client: PipelinedClient,
  sql: string,
  values: readonly unknown[] = [],
): Promise<readonly unknown[]> {
  return asPromise((done) => (values.length === 0 ? client.query(sql, done) : client.query(sql, values, done)))
}

// An error without a code is not of the server: the connection was lost.
function asPromise(send: (done: QueryCallback) => void): Promise<readonly unknown[]> {
  return new Promise((resolve, reject) =>
    send((error, result) =>
      error ? reject('code' in error ? error : new ConnectionError(error)) : resolve(result.rows),
    ),
  )
}
