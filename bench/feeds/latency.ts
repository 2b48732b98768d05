import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Controller, createApp, Events, Field, Get, newLifespan, sql, withSession } from 'sequitur'
import { Event, Feed, FeedEvent, feedsOf } from 'sequitur/feeds'
import { EventClient } from '../../test/support/event-client.js'
import { until } from '../../test/support/waiting.js'

/*
 * Milliseconds from a commit to the client that follows: of the same process, and on PostgreSQL of another process. Events are published one at a time, without others, and
 * while 200 others are published each second. `select` is a transaction with SELECT 1 in the same seconds: what it takes is that of the machine and of the database.
 *
 * node --conditions=sequitur-source --import tsx --import sequitur/register bench/feeds/latency.ts <url> [events]
 */

const LOADS = [0, 200]
/** Milliseconds between two events that are measured: longer than a process waits between two notices to others. */
const PAUSE = 50
const WARM_UP = 100
/** The topics of the events that are not measured: commits of one topic wait for each other. */
const OTHERS = Array.from({ length: 7 }, (_, number) => `others ${number}`)

@Event('bench.entered')
class Entered {
  @Field({ type: 'integer' }) number!: number
}

@Controller('/events')
class BenchController {
  @Get('/', Events.of(Entered))
  follow(feed: Feed) {
    return feed.follow([Entered], { topics: ['bench', ...OTHERS] })
  }
}

const [url = '', events = '2000'] = process.argv.slice(2)
const isChild = process.send !== undefined
const database = newLifespan(url, { sync: !isChild, poolSize: 12 })
const app = createApp({
  controllers: [BenchController],
  models: [FeedEvent],
  lifespan: database,
  logger: false,
})

const waiting = new Map<number, (at: number) => void>()
let last = 0

const publish = (number: number, topic: string) =>
  withSession(database, async (session) => feedsOf(session).publish(Entered, { number }, { topic }))

let others = 0
/** Where the machine is too slow for so many, fewer are published. */
async function publishOther(): Promise<void> {
  await publish(-1, OTHERS[others++ % OTHERS.length] ?? '').catch(() => {})
}

async function measure(): Promise<number> {
  const number = ++last
  const received = new Promise<number>((resolve) => waiting.set(number, resolve))
  await publish(number, 'bench')
  const committedAt = performance.now()
  const receivedAt = await received
  waiting.delete(number)
  return receivedAt - committedAt
}

async function select(): Promise<number> {
  const begunAt = performance.now()
  await withSession(database, (session) => session.execute(sql`SELECT 1`))
  return performance.now() - begunAt
}

async function measureAll(where: string, address: string): Promise<void> {
  const client = new EventClient({
    url: () => `${address}/events`,
    receive: ({ data }) => waiting.get((JSON.parse(data) as Entered).number)?.(performance.now()), // as declared
  })
  await until('it follows', () => client.connections > 0)
  await wait(500)
  for (const load of LOADS) {
    const publishing = load > 0 ? setInterval(() => void publishOther(), 1_000 / load) : undefined
    const times: number[] = []
    const selects: number[] = []
    for (let n = -WARM_UP; n < Number(events); n++) {
      const milliseconds = await measure()
      await wait(PAUSE)
      const selected = await select()
      if (n < 0) continue
      times.push(milliseconds)
      selects.push(selected)
    }
    clearInterval(publishing)
    const figures = { client: where, othersPerSecond: load, events: times.length, ...percentiles(times) }
    console.log(JSON.stringify({ ...figures, select: percentiles(selects) }))
  }
  await client.stop()
}

function percentiles(times: readonly number[]) {
  const sorted = times.toSorted((a, b) => a - b)
  const at = (share: number) => Number((sorted[Math.ceil(sorted.length * share) - 1] ?? NaN).toFixed(2))
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), most: at(1) }
}

async function measureBoth(): Promise<void> {
  const { url: address } = await app.listen(0)
  await measureAll('of this process', address)
  if (url.startsWith('postgres')) {
    const child = fork(fileURLToPath(import.meta.url), [url])
    const [other] = (await once(child, 'message')) as [string]
    await measureAll('of another process', other)
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
  await app.close()
}

if (isChild) process.send?.((await app.listen(0)).url)
else await measureBoth()
