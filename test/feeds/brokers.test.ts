// The same on both query paths: the statements of relays are those of relays.test.ts.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { sql, withSession } from 'sequitur'
import { FeedEvent, feedsOf } from 'sequitur/feeds'
import { HeroSaved } from '../../example/recipes/relays/hero-saved.js'
import { databaseApp, postgres } from '../support/databases.js'
import { environment, flags, root } from '../support/processes.js'
import { skipWithout } from '../support/skip-without.js'
import { until } from '../support/waiting.js'
import { type Broker, brokers, type OpenBroker, type Stored } from './brokers.js'

const TOPICS = 3
const EVENTS = 1_000
const WRITERS = 4
/** Milliseconds between two kills of a relay process, after it has started. */
const KILL_PAUSE = 700

/** Two processes with the relay, one of which is killed now and then, and replaced. */
async function runAndKill(
  t: TestContext,
  broker: Broker,
  url: string,
  open: OpenBroker,
): Promise<() => Promise<number>> {
  const variables = {
    RELAY: broker.relay,
    URL: url,
    toolkit_job_lease: '500',
    [broker.variable]: open.url,
  }
  const children: ChildProcess[] = []
  const start = async () => {
    const args = ['--conditions=sequitur-source', ...flags, 'test/feeds/programs/relay-process.ts']
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: environment(variables),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    children.push(child)
    child.stderr.resume()
    await once(child.stdout, 'data') // it has started
    child.stdout.resume()
  }
  t.after(() => children.map((child) => child.kill('SIGKILL')))
  await start()
  await start()
  let kills = 0
  const ending = new AbortController()
  const killing = (async () => {
    while (!ending.signal.aborted) {
      await wait(KILL_PAUSE * (0.5 + Math.random()))
      if (ending.signal.aborted) return
      children.shift()?.kill('SIGKILL')
      kills++
      await start()
    }
  })()
  return async () => {
    ending.abort()
    await killing
    return kills
  }
}

/** The first of each id. */
function withoutRepeats(stored: readonly Stored[]): readonly Stored[] {
  return [...new Map(stored.toReversed().map((one) => [one.id, one])).values()].toReversed()
}

for (const broker of brokers)
  test(
    `${broker.name} gets the committed events, in the order of each topic, while relays and the broker are killed`,
    {
      skip: skipWithout(broker.name, broker.programs),
    },
    async (t) => {
      const url = await postgres.url()
      const app = await databaseApp(t, { ...postgres, url: () => Promise.resolve(url) }, [FeedEvent], [])
      const open = await broker.open(t)
      const stop = await runAndKill(t, broker, url, open)
      const committed: number[] = []
      let restarting: Promise<void> | undefined
      const write = async (writer: number) => {
        for (let n = writer; n < EVENTS; n += WRITERS) {
          await withSession(app.database, async (session) => {
            feedsOf(session).publish(HeroSaved, { id: n, name: 'Robin' }, { topic: `team-${n % TOPICS}` })
            if (n % 7 === 0) await session.rollback()
          })
          if (n % 7 !== 0) committed.push(n)
          if (n > EVENTS / 3) restarting ??= open.restart()
          await wait(8 * WRITERS)
        }
      }
      await Promise.all(Array.from({ length: WRITERS }, (_, writer) => write(writer)))
      await restarting
      const kills = await stop()
      const rows = await withSession(app.database, (session) =>
        session.execute<{ id: string; topic: string; n: number }>(
          sql`SELECT id, topic, CAST(payload->>'id' AS INTEGER) AS n FROM feed_event ORDER BY position`,
        ),
      )
      const inOrder = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)
      assert.deepEqual(inOrder(rows.map(({ n }) => n)), inOrder(committed))
      await until('all are stored', async () => withoutRepeats(await open.stored()).length >= rows.length, 500, 30_000)
      const stored = await open.stored()
      const unique = withoutRepeats(stored)
      assert.equal(unique.length, rows.length)
      for (let topic = 0; topic < TOPICS; topic++) {
        const idsOf = (all: readonly Stored[]) => all.filter((one) => one.topic === `team-${topic}`).map(({ id }) => id)
        assert.deepEqual(idsOf(unique), idsOf(rows))
      }
      if (broker.dropsRepeats) assert.equal(stored.length, rows.length)
      t.diagnostic(`${rows.length} events, ${stored.length - rows.length} repeats, ${kills} kills`)
    },
  )
