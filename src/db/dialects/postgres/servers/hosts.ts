import type { Sequelize } from 'sequelize'
import type { PostgresConfig } from '../../../config/url.js'
import type { TargetServer } from '../../../config/url-options.js'
import { DEFAULTS } from '../../../dialect.js'
import { isOfStandby, REFUSED_WRITE } from '../../../error-codes.js'
import { onFailedStatement } from '../../../sequelize/failed-statements.js'
import { sequelizeInternals } from '../../../sequelize/internals.js'
import { closeDiscarded, connectToFirstAvailable, discard } from '../../../servers/first-available.js'
import { pgClientOf } from '../../../drivers/pg.js'
import { isPipelined } from '../pipelined-client.js'
import { surveyOthers } from './survey.js'
import { NewestTimeline } from './timeline.js'

/** Options of Sequelize for the connections to a replica; pg does not read this one. */
interface ReplicaConfig {
  readonly dialectOptions?: { readonly target?: TargetServer }
}

/** Opens the connections of an instance on the first of the hosts in its URL that is available and accepts writes, or has the role that the URL requires. */
export function useHosts(
  sequelize: Sequelize,
  { hosts, target = defaultTarget(hosts), options }: PostgresConfig,
): void {
  const newest = hosts.length > 1 && WRITABLE.has(target) ? new NewestTimeline() : undefined
  const timeout = options.connectTimeout ?? DEFAULTS.connect
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const connect = manager.connect.bind(manager)
  const ask = async (connection: object) => {
    await assertTarget(connection, target)
    await newest?.ageOf(connection)
  }
  let asked = -Infinity
  connectToFirstAvailable(sequelize, hosts, {
    timeout,
    check: async (connection, config: ReplicaConfig, replacesOthers) => {
      const ofReplica = config.dialectOptions?.target
      await assertTarget(connection, ofReplica ?? target)
      if (!newest || ofReplica !== undefined) return
      // A former primary may come first, whose successor this process has not met yet.
      const isDue = performance.now() - asked > SURVEY_INTERVAL
      if (isDue) {
        asked = performance.now()
        await surveyOthers(sequelize, hosts, config, { timeout: Math.min(timeout / 2, 1_000), connect, ask, close })
      }
      await assertNewest(connection, newest, replacesOthers)
    },
    close,
  })
  closeDiscarded(sequelize, close)
  onFailedStatement(sequelize, (connection, error) => {
    if (isPipelined(connection) && isRefusedWrite(error) && connection.mayHaveLostPrimary) discard(connection)
  })
}

/** Milliseconds between surveys, while connections are opened: a former primary that answers no COMMIT loses its connections. */
const SURVEY_INTERVAL = 10_000

/** The targets that only one server of a cluster matches at a time. */
const WRITABLE: ReadonlySet<TargetServer> = new Set(['read-write', 'primary'])

async function assertNewest(connection: object, newest: NewestTimeline, replacesOthers: () => void): Promise<void> {
  const age = await newest.ageOf(connection)
  if (age === 'newer') replacesOthers()
  if (age === 'older')
    throw new WrongServerError('the server is a former primary: another one was promoted while it was away')
}

function defaultTarget(hosts: readonly unknown[]): TargetServer {
  return hosts.length > 1 ? 'read-write' : 'any'
}

function close(connection: object): void {
  if (isPipelined(connection)) connection.terminate()
}

function isRefusedWrite(error: Error): boolean {
  return ('code' in error && error.code === REFUSED_WRITE) || isOfStandby(error)
}

async function assertTarget(connection: object, target: TargetServer): Promise<void> {
  if (target === 'any' || !isPipelined(connection)) return
  const isReadOnly = connection.isReadOnly ?? (await showReadOnly(connection))
  const isStandby = connection.isStandby ?? isReadOnly // unknown before PostgreSQL 14
  const problem = problemOf(target, isReadOnly, isStandby)
  if (problem !== undefined) throw new WrongServerError(`${problem}, but target_session_attrs is ${target}`)
}

function problemOf(target: TargetServer, isReadOnly: boolean, isStandby: boolean): string | undefined {
  switch (target) {
    case 'any':
      return undefined
    case 'read-write':
      return isReadOnly ? 'the server refuses writes' : undefined
    case 'read-only':
      return isReadOnly ? undefined : 'the server accepts writes'
    case 'primary':
      return isStandby ? 'the server is a standby' : undefined
    case 'standby':
    case 'prefer-standby':
      return isStandby ? undefined : 'the server is not a standby'
  }
}

class WrongServerError extends Error {
  override readonly name = 'WrongServerError'
}

/** Asks a server that does not report it with the connection: one before PostgreSQL 14, or a pooler. */
function showReadOnly(connection: object): Promise<boolean> {
  return new Promise((resolve, reject) =>
    pgClientOf(connection).query('SHOW transaction_read_only', (error, result) => {
      if (error) return reject(error)
      const [row] = result.rows as readonly object[]
      resolve(Object.values(row ?? {})[0] === 'on')
    }),
  )
}
