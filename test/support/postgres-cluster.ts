import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { Client } from 'pg'
import { freePort } from './postgres-server.js'
import { until } from './waiting.js'

/*
 * A PostgreSQL primary with streaming standbys, on the loopback address, with data in the directory for temporary files.
 */

const INSTALLED = '/usr/lib/postgresql'

/** The folder of PostgreSQL's programs, of the newest version; undefined if there are none. */
export function postgresPrograms(): string | undefined {
  try {
    const [newest] = readdirSync(INSTALLED).sort((a, b) => Number(b) - Number(a))
    return newest === undefined ? undefined : join(INSTALLED, newest, 'bin')
  } catch {
    return undefined
  }
}

/** PostgreSQL refuses to run as root. */
export function serverAccount(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  const [uid, gid] = ['-u', '-g'].map((option) =>
    Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' })),
  )
  return uid === undefined || gid === undefined ? {} : { uid, gid }
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '120',
  shared_buffers: '16MB',
  fsync: 'off', // nothing has to survive a power failure
  wal_receiver_status_interval: '1s',
  wal_retrieve_retry_interval: '200ms',
}

/** A server of a cluster. */
export class ClusterNode {
  readonly name: string
  readonly port: number
  readonly directory: string
  #server: ChildProcess | undefined

  constructor(name: string, port: number, directory: string) {
    this.name = name
    this.port = port
    this.directory = directory
  }

  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  get url(): string {
    return `postgres://postgres@${this.host}/postgres`
  }

  /** Starts the server, and waits until it answers. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const flags = Object.entries({ ...SETTINGS, port: String(this.port), ...settings })
    this.#server = spawn(
      join(String(postgresPrograms()), 'postgres'),
      ['-D', this.directory, ...flags.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
      { ...serverAccount(), stdio: 'ignore' },
    )
    await until(`${this.name} answers`, () => this.query('SELECT 1').then(Boolean, () => false), 50)
  }

  /** Executes SQL on a connection of its own. */
  query(sql: string): Promise<readonly Record<string, unknown>[]> {
    return query(this.url, sql)
  }

  get #processes(): readonly number[] {
    const main = this.#server?.pid
    return main === undefined ? [] : withChildren(main)
  }

  /** Kills the server and all of its processes at once, as the end of a machine. */
  async kill(): Promise<void> {
    const server = this.#server
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    for (const id of this.#processes) signal(id, 'SIGKILL')
    await gone
  }

  /** Stops all processes of the server: its connections stay open, and nothing is answered. */
  freeze(): void {
    for (const id of this.#processes) signal(id, 'SIGSTOP')
  }

  thaw(): void {
    for (const id of this.#processes) signal(id, 'SIGCONT')
  }

  /** Makes a standby the primary. */
  async promote(): Promise<void> {
    await this.query('SELECT pg_promote(true, 30)')
  }

  /** Makes a standby follow another primary. */
  async follow(primary: ClusterNode): Promise<void> {
    await this.query(`ALTER SYSTEM SET primary_conninfo = '${connectionInfo(primary, this.name)}'`)
    await this.query('SELECT pg_reload_conf()')
  }
}

/** Executes SQL on a connection of its own. */
export async function query(url: string, sql: string): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 2_000, query_timeout: 10_000 })
  client.on('error', () => {}) // rejects the query as well
  await client.connect()
  try {
    const { rows } = await client.query(sql)
    return rows as Record<string, unknown>[]
  } finally {
    // The other side may be frozen.
    void client.end().catch(() => {})
  }
}

/** The ids of a process and of those that it has started. */
export function withChildren(id: number): readonly number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=', '--ppid', String(id)], { encoding: 'utf8' })
  return [id, ...stdout.split('\n').map(Number).filter(Boolean)]
}

export function signal(id: number, name: NodeJS.Signals): void {
  try {
    process.kill(id, name)
  } catch {} // it has ended already
}

function connectionInfo({ port }: ClusterNode, name: string): string {
  return `host=127.0.0.1 port=${port} user=postgres application_name=${name}`
}

export interface Cluster {
  readonly primary: ClusterNode
  readonly standbys: readonly [ClusterNode, ClusterNode]
}

/** Starts a primary that waits for one of its two standbys at each COMMIT. They end with the test. @param settings of each server. */
export async function startCluster(
  t: Pick<TestContext, 'after'>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const account = serverAccount()
  const nodes: ClusterNode[] = []
  t.after(async () => {
    for (const node of nodes) {
      node.thaw()
      await node.kill()
      rmSync(node.directory, { recursive: true, force: true })
    }
  })
  const newNode = async (name: string) => {
    const directory = mkdtempSync(join(tmpdir(), `sequitur-${name}-`))
    chmodSync(directory, 0o700)
    if (account.uid !== undefined && account.gid !== undefined) chownSync(directory, account.uid, account.gid)
    const node = new ClusterNode(name, await freePort(), directory)
    nodes.push(node)
    return node
  }
  const run = (program: string, args: readonly string[]) =>
    execFileSync(join(String(postgresPrograms()), program), args, { ...account, cwd: tmpdir(), stdio: 'ignore' })

  const primary = await newNode('primary')
  run('initdb', ['-D', primary.directory, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--no-locale', '--no-sync'])
  await primary.start({ ...settings, synchronous_standby_names: 'ANY 1 (standby1, standby2)' })
  const newStandby = async (name: string) => {
    const standby = await newNode(name)
    const source = ['-d', connectionInfo(primary, name), '-D', standby.directory]
    run('pg_basebackup', [...source, '-R', '-X', 'stream', '-c', 'fast', '--no-sync'])
    await standby.start(settings)
    return standby
  }
  const standbys = [await newStandby('standby1'), await newStandby('standby2')] as const
  const streaming = `SELECT 1 FROM pg_stat_replication WHERE state = 'streaming'`
  await until('both standbys stream', async () => (await primary.query(streaming)).length === 2, 50)
  return { primary, standbys }
}

/** The standby that has received the most, and the other one: the first must be promoted. */
async function byProgress({ standbys }: Cluster): Promise<readonly [ClusterNode, ClusterNode]> {
  const [first, second] = standbys
  const received = `SELECT pg_last_wal_receive_lsn() - '0/0' AS bytes`
  const [a, b] = await Promise.all(standbys.map(async (one) => Number((await one.query(received))[0]?.['bytes'])))
  return Number(a) >= Number(b) ? [first, second] : [second, first]
}

/** Makes the standby that has received the most the primary, which the other one follows. */
export async function promoteOne(cluster: Cluster): Promise<ClusterNode> {
  const [next, other] = await byProgress(cluster)
  await next.promote()
  await other.follow(next)
  return next
}
