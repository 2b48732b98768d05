import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { codeBlock } from './code-block.js'
import { postgresPrograms, query, serverAccount, signal, withChildren } from './postgres-cluster.js'
import { freePort } from './postgres-server.js'
import { skipWithout } from './skip-without.js'
import { SwitchedHost } from './switched-host.js'
import { until } from './waiting.js'

/*
 * A cluster of Patroni on this machine, of three members and one server of etcd. Each member has the file of docs/operation.md, with addresses
 * and folders of its own, and reaches etcd on a path of its own.
 */

/** Why there can be no cluster; false if its programs are installed. */
export const noPatroni = skipWithout('Patroni with etcd', [
  `${postgresPrograms() ?? '/usr/lib/postgresql'}/pg_rewind`,
  'patroni',
  'etcd',
  'setpriv',
  'ps',
])

/** Milliseconds for a member to start, or to be replaced: more than `ttl`, on a busy machine. */
const PATIENCE = 120_000

const PASSWORD = 'a-secret'

/** What a member tells of itself, and of the cluster. */
interface MemberState {
  readonly name: string
  readonly role: string
  readonly state: string
  readonly timeline?: number
}

/** A machine of the cluster: Patroni and its PostgreSQL. */
export class PatroniMember {
  readonly name: string
  readonly port: number
  readonly restPort: number
  readonly folder: string
  readonly #etcd: SwitchedHost
  #patroni: ChildProcess | undefined

  constructor(name: string, ports: readonly [number, number], folder: string, etcd: SwitchedHost) {
    this.name = name
    ;[this.port, this.restPort] = ports
    this.folder = folder
    this.#etcd = etcd
  }

  get host(): string {
    return `127.0.0.1:${this.port}`
  }

  /** Starts Patroni, unless it runs. */
  start(): void {
    if (this.#isRunning) return
    const { uid, gid } = serverAccount()
    const account = uid === undefined ? [] : [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
    const log = openSync(join(this.folder, 'log'), 'a')
    // With this process it ends too, however that ends.
    this.#patroni = spawn('setpriv', [...account, '--pdeathsig=KILL', 'patroni', join(this.folder, 'config.yml')], {
      cwd: this.folder,
      stdio: ['ignore', log, log],
    })
  }

  /** Executes SQL on a connection of its own. */
  query(sql: string, database = 'postgres'): Promise<readonly Record<string, unknown>[]> {
    return query(databaseUrl(this.host, database), sql)
  }

  /** Whether its Patroni says that it is the primary. False if it does not answer. */
  async isPrimary(): Promise<boolean> {
    try {
      const response = await this.#ask('/primary')
      await response.text() // Patroni logs a client that leaves before
      return response.ok
    } catch {
      return false
    }
  }

  /** The members of the cluster, as this one knows them; none if it does not answer. */
  async members(): Promise<readonly MemberState[]> {
    try {
      const { members } = (await (await this.#ask('/cluster')).json()) as { members: MemberState[] }
      return members
    } catch {
      return []
    }
  }

  #ask(path: string): Promise<Response> {
    return fetch(`http://127.0.0.1:${this.restPort}${path}`, { signal: AbortSignal.timeout(1_000) })
  }

  get #postgresProcesses(): readonly number[] {
    try {
      return withChildren(Number.parseInt(readFileSync(join(this.folder, 'data/postmaster.pid'), 'utf8')))
    } catch {
      return []
    }
  }

  get #isRunning(): boolean {
    return this.#patroni !== undefined && this.#patroni.exitCode === null && this.#patroni.signalCode === null
  }

  get #patroniProcesses(): readonly number[] {
    const id = this.#patroni?.pid
    return this.#isRunning && id !== undefined ? withChildren(id) : []
  }

  /** Kills Patroni and PostgreSQL, as the end of the machine. */
  async kill(): Promise<void> {
    const patroni = this.#patroni
    if (!patroni || !this.#isRunning) return
    const gone = once(patroni, 'exit')
    for (const id of [...this.#patroniProcesses, ...this.#postgresProcesses]) signal(id, 'SIGKILL')
    await gone
  }

  /** Stops all processes, as a machine that is paused. */
  freeze(): void {
    for (const id of [...this.#patroniProcesses, ...this.#postgresProcesses]) signal(id, 'SIGSTOP')
  }

  /** Stops Patroni alone: its PostgreSQL is not demoted when the lock has ended. */
  freezePatroni(): void {
    for (const id of this.#patroniProcesses) signal(id, 'SIGSTOP')
  }

  thaw(): void {
    for (const id of [...this.#postgresProcesses, ...this.#patroniProcesses]) signal(id, 'SIGCONT')
  }

  /** Nothing is answered on its path to etcd. */
  cutOffFromEtcd(): void {
    this.#etcd.freeze()
  }

  async reconnectToEtcd(): Promise<void> {
    await this.#etcd.switchOff()
    await this.#etcd.switchOn()
  }

  /** What its Patroni has logged. */
  log(): string {
    return readFileSync(join(this.folder, 'log'), 'utf8')
  }
}

/** The URL of a database on one or more hosts. */
export function databaseUrl(hosts: string, database: string): string {
  return `postgres://postgres:${PASSWORD}@${hosts}/${database}`
}

export class PatroniCluster {
  readonly members: readonly PatroniMember[]

  constructor(members: readonly PatroniMember[]) {
    this.members = members
  }

  /** Waits for a primary. */
  async primary(): Promise<PatroniMember> {
    return this.#primaryOf(this.members)
  }

  /** Waits until another member than this one is the primary. */
  async primaryAfter(former: PatroniMember): Promise<PatroniMember> {
    return this.#primaryOf(this.members.filter((member) => member !== former))
  }

  async #primaryOf(members: readonly PatroniMember[]): Promise<PatroniMember> {
    let found: PatroniMember | undefined
    const look = async () => {
      const roles = await Promise.all(members.map(async (member) => ({ member, is: await member.isPrimary() })))
      found = roles.find(({ is }) => is)?.member
      return found !== undefined
    }
    await this.#until('a member is the primary', look)
    assert.ok(found)
    return found
  }

  /** Waits until all members run on one timeline, and COMMIT waits for one of them. */
  async healthy(): Promise<void> {
    await this.#until('all members run, one of them as a synchronous standby', async () => {
      const primary = await this.primary()
      const states = await primary.members()
      const roles = states.map(({ role }) => role).sort()
      return (
        roles.join() === 'leader,replica,sync_standby' &&
        states.every(({ state }) => ['running', 'streaming'].includes(state)) &&
        new Set(states.map(({ timeline }) => timeline)).size === 1
      )
    })
  }

  async #until(condition: string, holds: () => Promise<boolean>): Promise<void> {
    await until(condition, holds, 200, PATIENCE).catch((error: unknown) => {
      const logs = this.members.map((member) => `${member.name}:\n${member.log().slice(-5_000)}`)
      throw new Error(logs.join('\n'), { cause: error })
    })
  }
}

/** Starts a cluster, which is removed when the test file is done. */
export async function startPatroni(): Promise<PatroniCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-patroni-'))
  chmodSync(folder, 0o755)
  const remove = removeAtEnd(folder)
  const etcd = await startEtcd(folder)
  const members: PatroniMember[] = []
  after(async () => {
    for (const member of members) {
      member.thaw()
      await member.kill()
    }
    etcd.process.kill('SIGKILL')
    await remove()
  })
  for (const name of ['a', 'b', 'c']) members.push(await newMember(folder, name, etcd.url))
  const cluster = new PatroniCluster(members)
  const [first, ...others] = members
  first?.start()
  await cluster.primary()
  for (const member of others) member.start()
  await cluster.healthy()
  return cluster
}

async function startEtcd(folder: string): Promise<{ readonly url: string; readonly process: ChildProcess }> {
  const [url, peers] = [`http://127.0.0.1:${await freePort()}`, `http://127.0.0.1:${await freePort()}`]
  const options = {
    name: 'etcd',
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': peers,
    'initial-advertise-peer-urls': peers,
    'initial-cluster': `etcd=${peers}`,
    'enable-v2': 'true',
    'unsafe-no-fsync': 'true', // nothing has to survive a power failure
  }
  const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const process = spawn('setpriv', ['--pdeathsig=KILL', 'etcd', ...flags], { stdio: 'ignore' })
  const isHealthy = () =>
    fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
  await until('etcd is healthy', isHealthy, 50)
  return { url, process }
}

async function newMember(parent: string, name: string, etcdUrl: string): Promise<PatroniMember> {
  const folder = join(parent, name)
  mkdirSync(folder)
  const etcd = await SwitchedHost.start({ after }, etcdUrl)
  const member = new PatroniMember(name, [await freePort(), await freePort()], folder, etcd)
  writeFileSync(join(folder, 'config.yml'), configurationOf(member, etcd.address))
  if (process.getuid?.() === 0) execFileSync('chown', ['-R', 'postgres', folder])
  return member
}

/** The file of docs/operation.md, with the addresses and folders of a member. */
function configurationOf({ name, host, restPort, folder }: PatroniMember, etcd: string): string {
  const changes = {
    'name: a': `name: ${name}`,
    // Patroni would ask etcd for its own addresses otherwise, and leave the path of the member.
    '10.0.0.11:2379,10.0.0.12:2379,10.0.0.13:2379': `${etcd}\n  use_proxies: true`,
    '10.0.0.1:8008': `127.0.0.1:${restPort}`,
    '10.0.0.1:5432': host,
    '10.0.0.0/24': '127.0.0.1/32',
    '/var/lib/postgresql/heroes': join(folder, 'data'),
    '/var/lib/postgresql/.pgpass-patroni': join(folder, 'pgpass'),
    '/usr/lib/postgresql/15/bin': String(postgresPrograms()),
  }
  let text = codeBlock('docs/operation.md', 'yaml')
  for (const [documented, own] of Object.entries(changes)) {
    assert.ok(text.includes(documented), `docs/operation.md does not have ${documented}`)
    text = text.replaceAll(documented, own)
  }
  // The documented file ends with the section of PostgreSQL. Nothing has to survive a power failure.
  return `${text}  parameters: { unix_socket_directories: '', fsync: 'off', shared_buffers: 16MB }\n`
}

/** The file of docs/operation.md for HAProxy, before these members. */
export function haproxyBefore(members: readonly PatroniMember[], port: number): string {
  let text = codeBlock('docs/operation.md', 'haproxy').replace('127.0.0.1:5000', `127.0.0.1:${port}`)
  for (const [index, { host, restPort }] of members.entries()) {
    const documented = `10.0.0.${index + 1}:5432 check port 8008`
    assert.ok(text.includes(documented), `docs/operation.md does not have ${documented}`)
    text = text.replace(documented, `${host} check port ${restPort}`)
  }
  return text
}

/** A process that ends the servers and removes the folder when this process ends, killed or not. */
function removeAtEnd(folder: string): () => Promise<void> {
  const guard = spawn('sh', ['-c', ENDING, folder], { stdio: ['pipe', 'ignore', 'ignore'], detached: true })
  guard.unref()
  return async () => {
    guard.ref()
    guard.stdin.end()
    if (guard.exitCode === null) await once(guard, 'exit')
  }
}

// Patroni starts PostgreSQL as a process of no parent.
const ENDING = `
  cat > /dev/null
  sleep 0.2
  for file in "$0"/*/data/postmaster.pid; do test -f "$file" && kill -9 "$(head -n 1 "$file")"; done
  sleep 0.2
  rm -rf "$0"
`
