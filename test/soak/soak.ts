// The soak: see scripts/soak.js, which starts it.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import type { World } from './actions.js'
import { Clients } from './clients.js'
import { type Connections, type Fault, isKind, type SoakDatabase, startDatabase } from './databases.js'
import { Ledger } from './ledger.js'
import { printReport } from './report.js'
import { readRows } from './rows.js'
import { Server, type Usage } from './server.js'

/** What was measured at the end of a round, while no client was connected. */
export interface Measured {
  readonly usage: Usage
  readonly descriptors: number | undefined
  readonly connections: Connections | undefined
  readonly temporaryFiles: number
  readonly requests: number
  readonly unavailable: number
  readonly unknown: number
}

/** Milliseconds of a round with clients and faults. */
const LONGEST_ROUND = 30_000
/** Within this time after a fault the app is ready again. */
const RECOVERY = 20_000

class Soak {
  readonly rounds: Measured[] = []
  readonly wrong: string[] = []
  readonly faults = new Map<string, number>()
  readonly #database: SoakDatabase
  readonly #server: Server
  readonly #folder: string
  readonly #ledger = new Ledger()
  readonly #world: World
  #faults = 0

  constructor(database: SoakDatabase, server: Server, folder: string) {
    this.#database = database
    this.#server = server
    this.#folder = folder
    let names = 0
    this.#world = { ledger: this.#ledger, deletable: [], lastId: 1, newName: () => `entry-${names++}` }
  }

  /** Clients and faults for a while; then what is left of them. */
  async round(milliseconds: number, clientCount: number): Promise<void> {
    const clients = new Clients(await this.#server.url, this.#world, clientCount)
    const end = Date.now() + milliseconds
    try {
      await wait(milliseconds / 5)
      await this.#breakThings(end)
      await wait(Math.max(0, end - Date.now()))
    } finally {
      await clients.stop()
    }
    this.wrong.push(...clients.wrong)
    this.rounds.push(await this.#measure(clients))
    const { names, counters } = await readRows(this.#database.directUrl)
    const { delivered } = this.rounds.at(-1)?.usage ?? { delivered: 0 }
    this.wrong.push(...this.#ledger.compare(names, counters, delivered))
  }

  /** One fault after the other, each once the app has recovered from the last one. */
  async #breakThings(end: number): Promise<void> {
    const faults = [...this.#database.faults, this.#stoppedApp()]
    for (let skipped = 0; skipped < faults.length;) {
      const fault = faults[this.#faults++ % faults.length]
      if (fault === undefined || Date.now() + fault.lasts > end) {
        skipped++
        continue
      }
      skipped = 0
      await fault.run()
      this.faults.set(fault.name, (this.faults.get(fault.name) ?? 0) + 1)
      await this.#recovered(fault.name)
      await wait(500)
      if (Date.now() > end) return
    }
  }

  #stoppedApp(): Fault {
    const run = async () => {
      this.#server.signal('SIGSTOP')
      await wait(1_000)
      this.#server.signal('SIGCONT')
    }
    return { name: 'app stopped for 1 s', lasts: 1_000, run }
  }

  async #recovered(fault: string): Promise<void> {
    const end = Date.now() + RECOVERY
    const url = new URL('/readyz', await this.#server.url)
    let said = ''
    while (Date.now() < end) {
      const response = await fetch(url, { headers: { connection: 'close' }, signal: AbortSignal.timeout(RECOVERY) })
      said = await response.text()
      if (response.ok) return
      await wait(50)
    }
    this.wrong.push(`${RECOVERY / 1000} s after "${fault}" the app is not ready: ${said}`)
  }

  async #measure({ tallies }: Clients): Promise<Measured> {
    const all = [...tallies.values()]
    await this.#quiet()
    return {
      usage: await this.#server.usage(),
      descriptors: this.#server.descriptors(),
      connections: await this.#database.connections(),
      temporaryFiles: readdirSync(this.#folder).filter((name) => name.startsWith('sequitur-')).length,
      requests: all.reduce((sum, { answered, unavailable, ended }) => sum + answered + unavailable + ended, 0),
      unavailable: all.reduce((sum, { unavailable }) => sum + unavailable, 0),
      unknown: this.#ledger.count('unknown'),
    }
  }

  /** What clients that have left had begun is over, at the latest, at the limit of a handler. */
  async #quiet(): Promise<void> {
    for (let left = 100; left > 0; left--) {
      const { inTransaction } = (await this.#database.connections()) ?? { inTransaction: 0 }
      await wait(100)
      if (inTransaction === 0) return
    }
  }
}

function optionsOf(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      minutes: { type: 'string', default: '3' },
      database: { type: 'string', default: 'sqlite' },
      clients: { type: 'string', default: '16' },
    },
  })
  const [minutes, clients] = [Number(values.minutes), Number(values.clients)]
  if (!(minutes > 0 && minutes <= 600)) throw new Error(`--minutes is a number up to 600, got '${values.minutes}'`)
  if (!(Number.isInteger(clients) && clients > 0 && clients <= 200))
    throw new Error(`--clients is a whole number from 1 to 200, got '${values.clients}'`)
  if (!isKind(values.database)) throw new Error(`--database is sqlite, postgres or mariadb, got '${values.database}'`)
  return { milliseconds: minutes * 60_000, clients, kind: values.database }
}

const { milliseconds, clients, kind } = optionsOf(process.argv.slice(2))
// At least three: the first one warms the app up, and what grows does so from one to the next.
const count = Math.max(3, Math.round(milliseconds / LONGEST_ROUND))
const folder = mkdtempSync(join(tmpdir(), 'sequitur-soak-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const database = await startDatabase(kind, folder)
const server = new Server(database.url, folder)
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    // The app ends when this process does.
    void database.stop().finally(() => process.exit(1))
  })
const soak = new Soak(database, server, folder)
try {
  for (let round = 0; round < count; round++) await soak.round(milliseconds / count, clients)
  const code = await server.stop()
  if (code !== 0) soak.wrong.push(`after SIGTERM the app ended with ${String(code)}`)
} finally {
  if (server.isRunning) await server.stop('SIGKILL')
  await database.stop()
}
process.exitCode = printReport(soak, server, database.poolSize) ? 0 : 1
