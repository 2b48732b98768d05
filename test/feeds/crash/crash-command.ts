// See scripts/crash.js, which starts it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { cuttingAtCommit } from '../../jobs/crash/cutting-at-commit.js'
import { MariadbServer } from '../../support/mariadb-server.js'
import { promoteOne, startCluster } from '../../support/postgres-cluster.js'
import { startPostgres } from '../../support/postgres-server.js'
import { COMMIT_TIMES } from '../commit-times.js'
import { type Crashes, crash, type Trouble } from './crash.js'

const { values } = parseArgs({
  options: {
    events: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '30' },
    database: { type: 'string', default: 'sqlite' },
    writers: { type: 'string', default: '8' },
    followers: { type: 'string', default: '50' },
    processes: { type: 'string', default: '3' },
    'server-kills': { type: 'string', default: '0' },
    cut: { type: 'boolean', default: false },
    standby: { type: 'boolean', default: false },
  },
})

/** A database that is tried. */
type Tried = Pick<Crashes, 'url' | 'directUrl' | 'trouble' | 'beforeEnd' | 'commitOrder'> & {
  readonly stop: () => Promise<void>
}

const kills = Number(values.kills)
const tried = await open(values.database)
try {
  const outcome = await crash({
    ...tried,
    events: Number(values.events),
    kills,
    killEach: 1_000,
    writers: Number(values.writers),
    followers: Number(values.followers),
    processes: Number(values.processes),
    log: (line) => console.log(line),
  })
  console.log(`${values.database}: each client has received what was committed, in the order of the commits.`, outcome)
} finally {
  await tried.stop()
}

async function open(database: string): Promise<Tried> {
  switch (database) {
    case 'sqlite': {
      const folder = mkdtempSync(join(tmpdir(), 'sequitur-crash-'))
      const stop = async () => rmSync(folder, { recursive: true })
      return { url: `sqlite+sqlite3:///${join(folder, 'feeds.sqlite')}`, stop }
    }
    case 'postgres':
      return values.standby ? openCluster() : openPostgres()
    case 'mariadb':
      return openMariadb('mariadb+mariadb')
    case 'mysql2':
      return openMariadb('mysql+mysql2')
    default:
      throw new Error(`There is no database '${database}'. Write --database sqlite, postgres, mariadb or mysql2.`)
  }
}

async function openPostgres(): Promise<Tried> {
  const server = await startPostgres({ lasting: true, settings: COMMIT_TIMES })
  return withCuts({ url: server.url, stop: server.stop, trouble: serverKills(server) })
}

async function openMariadb(scheme: 'mariadb+mariadb' | 'mysql+mysql2'): Promise<Tried> {
  const ends: (() => unknown)[] = []
  const server = await MariadbServer.start({ after: (end: () => unknown) => void ends.push(end) })
  return withCuts({
    url: server.url(scheme),
    trouble: serverKills(server),
    commitOrder: () => server.insertedIds('feed_event'),
    async stop() {
      for (const end of ends) await end()
    },
  })
}

function serverKills(server: { kill(): Promise<void>; restart(): Promise<void> }): Trouble | undefined {
  const times = Number(values['server-kills'])
  const make = async () => {
    await server.kill()
    await wait(Math.random() * 500)
    await server.restart()
  }
  return times > 0 ? { each: Math.max(1_000, (kills * 1_000) / times), times, make } : undefined
}

/** Its primary is killed when half of the time is over. */
async function openCluster(): Promise<Tried> {
  const ends: (() => unknown)[] = []
  const cluster = await startCluster({ after: (end: () => unknown) => void ends.push(end) }, COMMIT_TIMES)
  const hosts = [cluster.primary, ...cluster.standbys].map(({ host }) => host).join()
  const make = async () => {
    await cluster.primary.kill()
    const { name } = await promoteOne(cluster)
    console.log(`The primary was killed, and ${name} is promoted.`)
  }
  return {
    url: `postgres://postgres@${hosts}/postgres`,
    trouble: { each: (kills * 1_000) / 2, times: 1, make },
    async stop() {
      for (const end of ends) await end()
    },
  }
}

async function withCuts(tried: Tried): Promise<Tried> {
  if (!values.cut) return tried
  const proxy = await cuttingAtCommit(tried.url, 60)
  return {
    ...tried,
    url: proxy.url,
    directUrl: tried.url,
    beforeEnd() {
      proxy.rest()
      console.log('Connections were cut at COMMIT:', proxy.cuts)
    },
    async stop() {
      proxy.close()
      await tried.stop()
    },
  }
}
