// Plain JavaScript, as postgres-server.js: scripts run it in a bare node.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from './postgres-server.js'

/**
 * @typedef {object} Pgbouncer
 * @property {(url: string) => string} through the same database of the server, through PgBouncer
 * @property {(name: string, password: string) => Promise<void>} allow lets an account of the server connect
 * @property {() => Promise<void>} stop
 */

/** The program, and its version; undefined where it is missing. @param {string} program */
export function pgbouncerVersion(program) {
  const { stdout } = spawnSync(program, ['--version'], { encoding: 'utf8' })
  return /PgBouncer (\S+)/.exec(stdout ?? '')?.[1]
}

/**
 * Starts PgBouncer before a PostgreSQL server, on the loopback address. It ends when this process does.
 * @param {string} program
 * @param {string} serverUrl of a user with a password
 * @param {Readonly<Record<string, string | number>>} [settings] its own are those of its documentation for applications: nothing is ignored
 * @returns {Promise<Pgbouncer>}
 */
export async function startPgbouncer(program, serverUrl, settings = {}) {
  const server = new URL(serverUrl)
  const directory = mkdtempSync(join(tmpdir(), 'sequitur-pgbouncer-'))
  chmodSync(directory, 0o755)
  const port = await freePort()
  const users = join(directory, 'users.txt')
  const config = join(directory, 'pgbouncer.ini')
  writeFileSync(users, `"${server.username}" "${server.password}"\n`)
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'md5',
    auth_file: users,
    admin_users: server.username,
    pool_mode: 'transaction',
    default_pool_size: 40,
    max_client_conn: 500,
    server_idle_timeout: 5,
    // Gives every transaction another server connection, so that whatever is left on one is noticed.
    server_round_robin: 1,
    ...settings,
  }
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`)
  writeFileSync(
    config,
    `[databases]\n* = host=${server.hostname} port=${server.port}\n[pgbouncer]\n${lines.join('\n')}\n`,
  )
  // PgBouncer refuses to run as root.
  const user = process.getuid?.() === 0 ? ['-u', 'postgres'] : []
  // The shell ends PgBouncer when its input closes: when this process ends, killed or not.
  const child = spawn('sh', ['-c', UNTIL_CLOSED, program, ...user, config], { stdio: ['pipe', 'ignore', 'pipe'] })
  /** @type {string[]} */
  const log = []
  child.stderr.on('data', (text) => log.push(String(text)))
  const stop = async () => {
    child.ref()
    child.stdin.end()
    if (child.exitCode === null) await once(child, 'exit')
    rmSync(directory, { recursive: true, force: true })
  }
  try {
    await listening(port)
  } catch (error) {
    await stop()
    throw new Error(`PgBouncer did not start.\n${log.join('')}`, { cause: error })
  }
  child.unref()
  for (const stream of [child.stdin, child.stderr]) /** @type {import('node:net').Socket} */ (stream).unref()
  /** @param {string} url */
  const through = (url) => Object.assign(new URL(url), { hostname: '127.0.0.1', port: String(port) }).href
  return {
    through,
    allow: async (name, password) => {
      appendFileSync(users, `"${name}" "${password}"\n`)
      const console = Object.assign(new URL(through(serverUrl)), { pathname: '/pgbouncer' })
      const client = new Client({ connectionString: console.href })
      await client.connect()
      await client.query('RELOAD').finally(() => client.end())
    },
    stop,
  }
}

// By SIGKILL: newer versions wait for their clients after a SIGTERM.
const UNTIL_CLOSED = '"$0" "$@" <&- & cat > /dev/null; kill -9 $!; wait'

/** @param {number} port */
async function listening(port) {
  for (let patience = 200; ; patience--) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      return
    } catch (error) {
      if (patience === 0) throw error
      await new Promise((resolve) => setTimeout(resolve, 25))
    } finally {
      socket.destroy()
    }
  }
}
