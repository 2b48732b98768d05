import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { asMysql, install, removeAtEnd } from './galera.js'
import { freePort } from './postgres-server.js'
import { skipWithout } from './skip-without.js'
import { until } from './waiting.js'

/*
 * A MariaDB server whose tables are spread over two others by the storage engine Spider.
 */

const PLUGIN = '/usr/lib/mysql/plugin/ha_spider.so'

/** Why there can be none; false if its programs are installed. */
export const noSpider = skipWithout('MariaDB Spider', ['mariadbd', 'mariadb-install-db', 'setpriv', PLUGIN])

export class MariadbServer {
  readonly folder: string
  readonly port: number
  readonly #flags: readonly string[]
  #process: ChildProcess | undefined

  constructor(folder: string, port: number, flags: readonly string[]) {
    this.folder = folder
    this.port = port
    this.#flags = flags
  }

  async start(): Promise<void> {
    const { folder, port } = this
    const files = [`--datadir=${folder}`, `--socket=${join(folder, 'socket')}`, `--pid-file=${join(folder, 'pid')}`]
    const network = [`--port=${port}`, '--bind-address=127.0.0.1', '--skip-name-resolve']
    const small = ['--innodb-buffer-pool-size=32M', '--innodb-log-file-size=16M']
    const options = ['--no-defaults', ...files, ...network, ...small, ...this.#flags]
    this.#process = spawn('setpriv', [...asMysql, 'mariadbd', ...options], { stdio: 'ignore' })
    await until(`the server on port ${port} answers`, () => this.execute('SELECT 1').then(Boolean, () => false), 200)
  }

  async kill(): Promise<void> {
    const child = this.#process
    if (!child || child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  /** Executes statements on a connection of its own. @returns the rows of the last one. */
  async execute(...statements: readonly string[]): Promise<readonly RowDataPacket[]> {
    const connection = await createConnection({
      host: '127.0.0.1',
      port: this.port,
      user: 'root',
      connectTimeout: 2_000,
    })
    try {
      let rows: readonly RowDataPacket[] = []
      for (const statement of statements) [rows] = await connection.query<RowDataPacket[]>(statement)
      return rows
    } finally {
      connection.destroy()
    }
  }
}

export interface Spider {
  /** The server that an app connects to. */
  readonly front: MariadbServer
  /** Those that have the rows. */
  readonly nodes: readonly [MariadbServer, MariadbServer]
}

/** Starts the three servers, each with an empty database `app`; they are removed when the test file is done. */
export async function startSpider(): Promise<Spider> {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-spider-'))
  const template = install(folder)
  const newServer = async (name: string, flags: readonly string[]) => {
    const data = join(folder, name)
    cpSync(template, data, { recursive: true })
    if (process.getuid?.() === 0) spawnSync('chown', ['-R', 'mysql', data])
    return new MariadbServer(data, await freePort(), flags)
  }
  const nodes = [await newServer('a', []), await newServer('b', [])] as const
  const front = await newServer('front', ['--plugin-load-add=ha_spider'])
  const servers = [...nodes, front]
  const remove = removeAtEnd(folder)
  after(async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await remove()
  })
  for (const server of servers) {
    await server.start()
    await server.execute('CREATE DATABASE app')
  }
  await front.execute(
    ...nodes.map(
      ({ port }, index) =>
        `CREATE SERVER node${index} FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1', DATABASE 'app', USER 'root', PORT ${port})`,
    ),
  )
  return { front, nodes }
}

/** Creates a table on both nodes, and on the server in front the one that spreads its rows by a column. */
export async function spread({ front, nodes }: Spider, table: string, columns: string, key: string): Promise<void> {
  for (const node of nodes) await node.execute('USE app', `CREATE TABLE ${table} (${columns}) ENGINE=InnoDB`)
  const partitions = nodes.map((_, index) => `PARTITION p${index} COMMENT = 'srv "node${index}"'`)
  await front.execute(
    'USE app',
    `CREATE TABLE ${table} (${columns}) ENGINE=SPIDER COMMENT='wrapper "mysql", table "${table}"' PARTITION BY KEY (${key}) (${partitions.join(', ')})`,
  )
}
