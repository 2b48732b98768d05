// See scripts/crash.js, which starts it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { parseArgs } from 'node:util'
import { setTimeout as wait } from 'node:timers/promises'
import { mariadbUrl } from '../../support/mariadb.js'
import { promoteOne, startCluster } from '../../support/postgres-cluster.js'
import { startPostgres } from '../../support/postgres-server.js'
import { type Crashes, crash } from './crash.js'
import { cuttingAtCommit } from './cutting-at-commit.js'

const { values } = parseArgs({
  options: {
    jobs: { type: 'string', default: '10000' },
    kills: { type: 'string', default: '100' },
    database: { type: 'string', default: 'sqlite' },
    clients: { type: 'string', default: '8' },
    lease: { type: 'string' },
    'server-kills': { type: 'string', default: '0' },
    cut: { type: 'boolean', default: false },
    standby: { type: 'boolean', default: false },
    limits: { type: 'boolean', default: false },
    clocks: { type: 'boolean', default: false },
  },
})

/** Milliseconds: of one process each. */
const WRONG_CLOCKS = [0, 900, -4_000, 3 * 60_000, -10 * 60_000]

/** A database that is tried. */
type Tried = Pick<Crashes, 'url' | 'directUrl' | 'trouble' | 'beforeEnd'> & { readonly stop: () => Promise<void> }

const kills = Number(values.kills)
const tried = await open(values.database)
try {
  const outcome = await crash({
    ...tried,
    jobs: Number(values.jobs),
    kills,
    killEach: 1_000,
    clients: Number(values.clients),
    lease: Number(values.lease ?? (values.limits ? 3_000 : 500)),
    isLimited: values.limits,
    ...(values.clocks ? { clocks: WRONG_CLOCKS } : {}),
    log: (line) => console.log(line),
  })
  console.log(`${values.database}: the effects are those of the committed jobs, once each.`, outcome)
} finally {
  await tried.stop()
}

async function open(database: string): Promise<Tried> {
  switch (database) {
    case 'sqlite': {
      const folder = mkdtempSync(join(tmpdir(), 'sequitur-crash-'))
      const stop = async () => rmSync(folder, { recursive: true })
      return { url: `sqlite+sqlite3:///${join(folder, 'jobs.sqlite')}`, stop }
    }
    case 'postgres':
      return values.standby ? openCluster() : openPostgres()
    case 'mariadb':
      return withCuts({ url: await mariadbUrl('mariadb+mariadb'), stop: () => Promise.resolve() })
    case 'mysql2':
      return withCuts({ url: await mariadbUrl('mysql+mysql2'), stop: () => Promise.resolve() })
    default:
      throw new Error(`There is no database '${database}'. Write --database sqlite, postgres, mariadb or mysql2.`)
  }
}

async function openPostgres(): Promise<Tried> {
  const times = Number(values['server-kills'])
  const server = await startPostgres({ lasting: true })
  const make = async () => {
    await server.kill()
    await wait(Math.random() * 500)
    await server.restart()
  }
  const trouble = times > 0 ? { each: Math.max(1_000, (kills * 1_000) / times), times, make } : undefined
  return withCuts({ url: server.url, stop: server.stop, trouble })
}

/** Its primary is killed when half of the time is over. */
async function openCluster(): Promise<Tried> {
  const ends: (() => unknown)[] = []
  const cluster = await startCluster({ after: (end: () => unknown) => void ends.push(end) } as Pick<
    TestContext,
    'after'
  >)
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
