import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdtempSync, readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { freePort } from './postgres-server.js'
import { skipWithout } from './skip-without.js'

/*
 * A Galera cluster of MariaDB servers on this machine, whose nodes can be killed and frozen.
 */

const LIBRARY = '/usr/lib/galera/libgalera_smm.so'

/** Why there can be no cluster; false if its programs are installed. */
export const noGalera = skipWithout('MariaDB Galera Cluster', [
  'mariadbd',
  'mariadb-install-db',
  'rsync',
  'setpriv',
  LIBRARY,
])

/** Milliseconds for a node to start, or to join the cluster again, on a busy machine. */
const PATIENCE = 120_000

interface Ports {
  readonly sql: number
  readonly group: number
  readonly ist: number
  readonly sst: number
}

/** One server of a cluster. */
export class GaleraNode {
  readonly folder: string
  readonly ports: Ports
  readonly #cluster: () => string
  #process: ChildProcess | undefined
  #output = ''

  constructor(folder: string, ports: Ports, cluster: () => string) {
    this.folder = folder
    this.ports = ports
    this.#cluster = cluster
  }

  get host(): string {
    return `127.0.0.1:${this.ports.sql}`
  }

  /** @param isFirst whether it begins a new cluster. */
  start(isFirst = false): void {
    const { folder, ports } = this
    const options = {
      datadir: folder,
      port: ports.sql,
      'bind-address': '127.0.0.1',
      socket: join(folder, 'socket'),
      'pid-file': join(folder, 'pid'),
      'log-error': join(folder, 'log.err'),
      'innodb-buffer-pool-size': '32M',
      'innodb-log-file-size': '16M',
      'innodb-autoinc-lock-mode': 2,
      'innodb-flush-log-at-trx-commit': 0, // nothing here has to survive a power failure
      'binlog-format': 'ROW',
      'skip-name-resolve': 'ON',
      'wsrep-on': 'ON',
      'wsrep-provider': LIBRARY,
      'wsrep-cluster-name': 'sequitur',
      'wsrep-cluster-address': this.#cluster(),
      'wsrep-node-address': `127.0.0.1:${ports.group}`,
      'wsrep-sst-method': 'rsync',
      'wsrep-sst-receive-address': `127.0.0.1:${ports.sst}`,
      'wsrep-provider-options': [
        `gmcast.listen_addr=tcp://127.0.0.1:${ports.group}`,
        `ist.recv_addr=127.0.0.1:${ports.ist}`,
        'gcache.size=16M',
      ].join(';'),
    }
    const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
    const first = isFirst ? ['--wsrep-new-cluster'] : []
    this.#process = spawn('setpriv', [...asMysql, 'mariadbd', '--no-defaults', ...flags, ...first], {
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    this.#process.stderr?.on('data', (chunk: Buffer) => (this.#output += chunk.toString()))
  }

  kill(): Promise<void> {
    return this.#send('SIGKILL')
  }

  async #send(signal: NodeJS.Signals): Promise<void> {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }

  /** Stops the process: the kernel goes on accepting connections for it, but nothing answers. */
  freeze(): void {
    this.#process?.kill('SIGSTOP')
  }

  thaw(): void {
    this.#process?.kill('SIGCONT')
  }

  /** Waits until it serves in a cluster of so many nodes. */
  async joined(nodes: number): Promise<void> {
    const end = Date.now() + PATIENCE
    while (!(await this.#serves(nodes))) {
      if (this.#process?.exitCode != null || Date.now() > end)
        throw new Error(`A node does not serve in a cluster of ${nodes}:\n${this.#output}${this.#log()}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  #log(): string {
    const file = join(this.folder, 'log.err')
    return existsSync(file) ? readFileSync(file, 'utf8').slice(-4_000) : ''
  }

  async #serves(nodes: number): Promise<boolean> {
    try {
      const [rows] = await this.execute(`SHOW STATUS WHERE variable_name IN ('wsrep_ready', 'wsrep_cluster_size')`)
      const status = new Map(rows.map(({ Variable_name, Value }) => [Variable_name, Value]))
      return status.get('wsrep_ready') === 'ON' && status.get('wsrep_cluster_size') === String(nodes)
    } catch {
      return false
    }
  }

  /** Whether it belongs to a cluster at present. Any number of nodes is one. */
  async isReady(): Promise<boolean> {
    const [[row]] = await this.execute(`SHOW STATUS LIKE 'wsrep_ready'`)
    return row?.['Value'] === 'ON'
  }

  /** Executes a statement on this node, on a connection of its own. */
  async execute(sql: string): Promise<[RowDataPacket[], unknown]> {
    const connection = await createConnection({
      host: '127.0.0.1',
      port: this.ports.sql,
      user: 'root',
      connectTimeout: 2_000,
    })
    try {
      return await connection.query<RowDataPacket[]>(sql)
    } finally {
      connection.destroy()
    }
  }
}

const isRoot = process.getuid?.() === 0
/** The server refuses to run as root. With this process it ends too, however that ends. */
export const asMysql = [...(isRoot ? ['--reuid=mysql', '--regid=mysql', '--clear-groups'] : []), '--pdeathsig=KILL']

/** Starts a cluster of three nodes, which is removed when the test file is done. */
export async function startGalera(): Promise<readonly [GaleraNode, GaleraNode, GaleraNode]> {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-galera-'))
  const template = install(folder)
  const nodes: GaleraNode[] = []
  const address = () => `gcomm://${nodes.map(({ ports }) => `127.0.0.1:${ports.group}`).join()}`
  for (const name of ['a', 'b', 'c']) {
    const data = join(folder, name)
    cpSync(template, data, { recursive: true })
    if (isRoot) spawnSync('chown', ['-R', 'mysql', data])
    nodes.push(new GaleraNode(data, await newPorts(), address))
  }
  const remove = removeAtEnd(folder)
  after(async () => {
    await Promise.all(nodes.map((node) => node.kill()))
    await remove()
  })
  for (const [index, node] of nodes.entries()) {
    node.start(index === 0)
    await node.joined(index + 1)
  }
  const [a, b, c] = nodes
  assert(a && b && c)
  return [a, b, c]
}

/** A data directory, which is copied: creating one takes seconds. */
export function install(folder: string): string {
  const data = join(folder, 'template')
  const flags = ['--no-defaults', '--auth-root-authentication-method=normal', '--skip-test-db', `--datadir=${data}`]
  const { status, stdout, stderr } = spawnSync('mariadb-install-db', flags, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`mariadb-install-db has failed:\n${stdout}${stderr}`)
  if (isRoot) spawnSync('chown', ['mysql', folder])
  return data
}

async function newPorts(): Promise<Ports> {
  return { sql: await freePort(), group: await freePort(), ist: await freePort(), sst: await freePort() }
}

/** A process that removes the folder when this process ends, killed or not. */
export function removeAtEnd(folder: string): () => Promise<void> {
  const guard = spawn('sh', ['-c', 'cat > /dev/null; sleep 0.2; rm -rf "$0"', folder], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  })
  guard.unref()
  return async () => {
    guard.ref()
    guard.stdin.end()
    if (guard.exitCode === null) await once(guard, 'exit')
  }
}

/** The URL of a database on these nodes, in this order. */
export function galeraUrl(nodes: readonly GaleraNode[], database: string, scheme: 'mariadb' | 'mysql'): string {
  return `${scheme}://root@${nodes.map(({ host }) => host).join()}/${database}`
}
