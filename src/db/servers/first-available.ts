import { AccessDeniedError, BaseError, ConnectionError, type Sequelize } from 'sequelize'
import { messageOf } from '../../core/to-error.js'
import { endsWithin } from '../../core/promises.js'
import { type Host, type ServerAddress, showHost } from '../config/server-address.js'
import { codeOf } from '../dialect.js'
import { sequelizeInternals } from '../sequelize/internals.js'
import { Availability } from './availability.js'
import { isFull } from './full-server.js'
import type { ConnectionManager } from '../sequelize/connection-manager.js'

/** How a dialect opens connections. */
export interface Opening {
  /** Milliseconds for the connection to one server, with its check. */
  readonly timeout: number
  /**
   * Rejects if the server does not serve programs at present, or not as these options require, although it accepts connections.
   *
   * @param replacesOthers to be called if it has taken the place of the other servers: open connections to those are not used again.
   */
  check(connection: object, config: object, replacesOthers: () => void): Promise<unknown>
  /** Closes the socket without sending anything. */
  close(connection: object): void
}

/** A server that holds the database. */
class Server {
  readonly host: Host
  readonly availability = new Availability()
  /** How many times it has refused to serve a connection. */
  refusals = 0

  constructor(host: Host) {
    this.host = host
  }
}

interface KnownServer {
  readonly server: Server
  /** How many times it had refused to serve when the connection was opened. */
  readonly refusals: number
}

/** The server of each connection. */
const servers = new WeakMap<object, KnownServer>()
/** The options with which each connection to one of several servers was opened: they lead to this server only. */
const configs = new WeakMap<object, object>()
/** Connections that are closed instead of being used again. */
const discarded = new WeakSet<object>()

/** The options that open another connection to the server of this one; undefined if they are those of the pool. */
export function configOfServer(connection: object): object | undefined {
  return configs.get(connection)
}

/**
 * Called when the server of a connection refuses to serve it. The connection is not used again, and if it is one of several servers, the others to it
 * are not either, as long as it is skipped.
 */
export function discard(connection: object): void {
  discarded.add(connection)
  const { server, refusals } = servers.get(connection) ?? {}
  if (!server || refusals !== server.refusals) return // it has refused another connection since, which was opened at the same time
  server.refusals++
  server.availability.failed()
}

/** Makes the pool close connections to unavailable servers, and those for which discard() was called. */
export function closeDiscarded(sequelize: Sequelize, close: (connection: object) => void): void {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const validate = manager.validate.bind(manager)
  manager.validate = (connection) => {
    const { server, refusals } = servers.get(connection) ?? {}
    const hasRefused = discarded.has(connection) || server?.refusals !== refusals
    const isAway = server !== undefined && server.availability.failures > 0 && server.availability.isAway
    if (!hasRefused && !isAway) return validate(connection)
    close(connection)
    return false
  }
}

/**
 * Opens the connections to the main database on the first of these hosts that is available. One that cannot be reached is skipped for a
 * while, unless all others fail too.
 */
export function connectToFirstAvailable(sequelize: Sequelize, hosts: ServerAddress['hosts'], opening: Opening): void {
  const { connectionManager: manager } = sequelizeInternals(sequelize)
  const connect = manager.connect.bind(manager)
  const all = hosts.map((host) => new Server(host))
  /** The server of options that were made for one server, as those of configOfServer(). */
  const exact = new WeakMap<object, Server>()

  async function openOn(server: Server, config: object): Promise<object> {
    const replacesOthers = () => {
      for (const other of all) if (other !== server) other.refusals++
    }
    const open = () => checked(connect(config), config, opening, server.host, replacesOthers)
    const connection = await watched(server.availability, open)
    servers.set(connection, { server, refusals: server.refusals })
    configs.set(connection, config)
    return connection
  }

  async function openFirst(config: object): Promise<object> {
    const failures: unknown[] = []
    for (const server of inOrder(all)) {
      const { host, port } = server.host
      const configOfHost = { ...config, host, port }
      exact.set(configOfHost, server)
      try {
        return await openOn(server, configOfHost)
      } catch (error) {
        if (isRefusal(error) || all.length === 1) throw error
        failures.push(error)
      }
    }
    throw noneAvailable(failures)
  }

  manager.connect = (config) => {
    const server = exact.get(config)
    if (server) return openOn(server, config)
    return isOfReplica(manager, config) ? checked(connect(config), config, opening, hostOf(config)) : openFirst(config)
  }
}

/** Opens a connection to a server, and remembers whether that could be reached. */
async function watched(availability: Availability, open: () => Promise<object>): Promise<object> {
  availability.beforeAttempt()
  try {
    const connection = await open()
    availability.reached()
    return connection
  } catch (error) {
    // A full server serves the connections that it has.
    if (isFull(error)) availability.reached()
    else if (!isRefusal(error)) availability.failed()
    throw error
  }
}

function isOfReplica({ config: { replication } }: ConnectionManager, config: object): boolean {
  return replication ? replication.read.includes(config) : false
}

function hostOf({ host, port }: { readonly host?: unknown; readonly port?: unknown }): Host {
  return { host: String(host), port: Number(port) }
}

/** Unavailable servers come last, and the first of them is the one to try again soonest. */
function inOrder(all: readonly Server[]): readonly Server[] {
  const away = all.filter(({ availability }) => availability.isAway)
  if (away.length === 0) return all
  const soonest = away.sort((a, b) => a.availability.awayUntil - b.availability.awayUntil)
  return [...all.filter(({ availability }) => !availability.isAway), ...soonest]
}

/** The connection, once the server has passed the check. A connection that comes too late is closed. */
async function checked(
  connecting: Promise<object>,
  config: object,
  opening: Opening,
  host: Host,
  replacesOthers = () => {},
): Promise<object> {
  const { timeout, check, close } = opening
  let opened: object | undefined
  let hasFailed = false
  const passed = connecting.then(async (connection) => {
    opened = connection
    if (hasFailed) close(connection)
    else await check(connection, config, replacesOthers)
    return connection
  })
  try {
    if (await endsWithin(passed, timeout)) return await passed
    throw timeoutOf(host, timeout)
  } catch (error) {
    hasFailed = true
    if (opened) close(opened)
    throw error instanceof BaseError ? error : new ConnectionError(error as Error) // of the driver
  }
}

function timeoutOf(host: Host, milliseconds: number): Error {
  const error = new Error(`${showHost(host)} did not answer within ${milliseconds} ms`)
  return Object.assign(error, { code: 'ETIMEDOUT' })
}

/** Errors that another server of the same database would report as well: a wrong account, or a missing database. */
function isRefusal(error: unknown): boolean {
  return error instanceof AccessDeniedError || REFUSED.test(codeOf(error))
}

const REFUSED = /^(?:28|3D|ER_BAD_DB_ERROR|ER_(?:DB)?ACCESS_DENIED)/

/** With the code of a full server, as it is reached; else with that of the last failure. The code decides whether the start waits. */
function noneAvailable(failures: readonly unknown[]): ConnectionError {
  const messages = failures.map(messageOf)
  const error = new Error(`None of the hosts is available: ${messages.join('; ')}`)
  return new ConnectionError(Object.assign(error, { code: codeOf(failures.find(isFull) ?? failures.at(-1)) }))
}
