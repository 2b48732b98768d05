import type { Sequelize } from 'sequelize'
import { endsWithin } from '../../../core/promises.js'
import { sequelizeInternals } from '../../sequelize/internals.js'
import { type Sql, toNumbered } from '../../statements/statement.js'
import type { PipelinedClient } from './pipelined-client.js'
import { query } from './server-connection.js'

/** Called for what happens on channels. */
export interface Listener {
  onNotice(channel: string, payload: string): void
  /** The connection was lost. */
  onEnd(): void
}

/** A connection that listens on channels. */
export interface Listening {
  /**
   * Executes a statement, outside of transactions. An idle connection may be cut without a word: one that does not answer in so many milliseconds is closed.
   *
   * @throws the error of the server, or ConnectionError.
   */
  execute(statement: Sql, limit: number): Promise<void>
  /** Listens on one more channel: an identifier in lower case. @throws as {@link execute}. */
  add(channel: string, limit: number): Promise<void>
  /** The listener is not told of it. */
  close(): void
}

/**
 * Listens on channels of PostgreSQL, on a connection of its own that is not one of the pool.
 *
 * @param channels identifiers in lower case.
 * @returns undefined behind a pooler, which gives each transaction another connection to the server.
 * @throws the error of the server, or of the connection.
 */
export async function listen(
  sequelize: Sequelize,
  channels: readonly string[],
  listener: Listener,
): Promise<Listening | undefined> {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const { replication } = manager.config
  const client = (await manager._connect(replication ? replication.write : manager.config)) as PipelinedClient // of this dialect
  try {
    if (await isBehindPooler(client)) {
      void client.terminate()
      return undefined
    }
    for (const channel of channels) await query(client, `LISTEN ${channel}`)
  } catch (error) {
    void client.terminate()
    throw error
  }
  let isClosed = false
  client.on('notification', ({ channel, payload }) => listener.onNotice(channel, payload ?? ''))
  client.on('end', () => {
    if (!isClosed) listener.onEnd()
  })
  return {
    execute: (statement, limit) => answerWithin(client, limit, query(client, toNumbered(statement), statement.values)),
    add: (channel, limit) => answerWithin(client, limit, query(client, `LISTEN ${channel}`)),
    close() {
      isClosed = true
      void client.terminate()
    },
  }
}

async function isBehindPooler(client: PipelinedClient): Promise<boolean> {
  const [server] = await query(client, 'SELECT pg_backend_pid() AS pid')
  return (server as { readonly pid: number }).pid !== client.processId
}

/** Closes the connection if the statement is not answered in time, so that it fails. */
async function answerWithin(client: PipelinedClient, limit: number, answer: Promise<unknown>): Promise<void> {
  const hasAnswered = await endsWithin(
    answer.catch(() => {}),
    limit,
  )
  if (!hasAnswered) void client.terminate()
  await answer
}
