import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { promisify } from 'node:util'
import { createConnection } from 'mysql2/promise'
import { freePort } from './postgres-server.js'
import { until } from './waiting.js'

/*
 * A MariaDB server of a test, on the loopback address, which logs what is committed in the order of the commits.
 */

/** What must be installed. */
export const MARIADB_PROGRAMS = ['mariadbd', 'mariadb-install-db', 'mariadb-binlog'] as const

const LOG = 'log-bin'
// Not `test`, which is there, with another character set.
const DATABASE = 'sequitur'

/** MariaDB refuses to run as root. */
function serverUser(directory: string): readonly string[] {
  if (process.getuid?.() !== 0) return []
  const [uid = 0, gid = 0] = ['-u', '-g'].map((option) =>
    Number(execFileSync('id', [option, 'mysql'], { encoding: 'utf8' })),
  )
  chownSync(directory, uid, gid)
  return ['--user=mysql']
}

export class MariadbServer {
  readonly #directory: string
  readonly #user: readonly string[]
  readonly #port: number
  #server: ChildProcess | undefined

  private constructor(directory: string, port: number) {
    this.#directory = directory
    this.#port = port
    this.#user = serverUser(directory)
  }

  /** It ends with the test. */
  static async start(t: Pick<TestContext, 'after'>): Promise<MariadbServer> {
    const server = new MariadbServer(mkdtempSync(join(tmpdir(), 'sequitur-mariadb-')), await freePort())
    t.after(() => server.#stop())
    const options = ['--no-defaults', ...server.#user, `--datadir=${server.#directory}`]
    execFileSync('mariadb-install-db', [...options, '--auth-root-authentication-method=normal'], { stdio: 'ignore' })
    await server.restart()
    await server.#query(`CREATE DATABASE IF NOT EXISTS ${DATABASE} CHARACTER SET utf8mb4`)
    return server
  }

  /** With the scheme of the driver: `mariadb+mariadb`. */
  url(scheme: 'mariadb+mariadb' | 'mysql+mysql2'): string {
    return `${scheme}://root@127.0.0.1:${this.#port}/${DATABASE}`
  }

  async restart(): Promise<void> {
    const settings = {
      datadir: this.#directory,
      port: this.#port,
      socket: join(this.#directory, 'server.sock'),
      'bind-address': '127.0.0.1',
      'log-bin': LOG,
      'binlog-format': 'ROW',
      'server-id': 1,
      'innodb-flush-log-at-trx-commit': 2, // nothing has to survive a power failure
      'innodb-buffer-pool-size': '64M',
    }
    const flags = Object.entries(settings).map(([name, value]) => `--${name}=${value}`)
    this.#server = spawn('mariadbd', ['--no-defaults', ...this.#user, ...flags], { stdio: 'ignore' })
    await until('MariaDB answers', () => this.#query('SELECT 1').then(Boolean, () => false), 50, 30_000)
  }

  async kill(): Promise<void> {
    const server = this.#server
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
  }

  /** The values of the first column with a UUID of the rows that were inserted into a table, in the order of the commits. */
  async insertedIds(table: string): Promise<readonly string[]> {
    const files = readdirSync(this.#directory).filter((name) => /^log-bin\.\d+$/.test(name))
    const paths = files.toSorted().map((name) => join(this.#directory, name))
    const args = ['--no-defaults', '-v', '--base64-output=DECODE-ROWS', ...paths]
    const { stdout } = await promisify(execFile)('mariadb-binlog', args, { maxBuffer: 2 ** 30 })
    const ids: string[] = []
    let isOfTable = false
    for (const line of stdout.split('\n')) {
      if (!line.startsWith('###')) continue
      if (line.startsWith('### INSERT')) isOfTable = line.endsWith(`.\`${table}\``)
      const id = isOfTable ? /^###   @\d+='([\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12})'/.exec(line)?.[1] : undefined
      if (id !== undefined) ids.push(id)
    }
    return ids
  }

  async #query(sql: string): Promise<unknown> {
    const connection = await createConnection({ host: '127.0.0.1', port: this.#port, user: 'root' })
    try {
      return await connection.query(sql)
    } finally {
      connection.destroy()
    }
  }

  async #stop(): Promise<void> {
    await this.kill()
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
