// The same on both query paths: it starts programs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { test } from 'node:test'
import { withSession } from 'sequitur'
import { FeedEvent, feedsOf } from 'sequitur/feeds'
import { JobRecord } from 'sequitur/jobs'
import { HeroSaved } from '../../example/recipes/relays/hero-saved.js'
import { Search } from '../../example/recipes/relays/search.js'
import { databaseApp, sqliteMemory } from '../support/databases.js'
import { post, serve, temporaryFolder } from '../support/processes.js'
import { skipWithout } from '../support/skip-without.js'
import { until } from '../support/waiting.js'
import { nats } from './brokers.js'

test(
  'the program at the start of the page hands heroes over to NATS',
  {
    skip: skipWithout(nats.name, nats.programs),
  },
  async (t) => {
    const broker = await nats.open(t)
    const { url } = await serve(['example/recipes/relays/heroes.ts'], {
      PORT: '0',
      NATS_URL: broker.url,
      toolkit_url: `sqlite+sqlite3:///${temporaryFolder()}/heroes.sqlite`,
    })
    const heroes = [
      { name: 'Ms. Marvel', secret_identity: 'Kamala Khan', age: 16 },
      { name: 'Robin', secret_identity: 'Tim Drake', age: 17 },
    ]
    for (const hero of heroes) assert.equal((await post(`${url}/heroes`, hero)).status, 201)
    assert.equal((await post(`${url}/heroes`, heroes[0])).status, 409)
    await until('both are stored', async () => (await broker.stored()).length === 2)
    assert.deepEqual(
      (await broker.stored()).map(({ n }) => n),
      [1, 2],
    )
  },
)

test('each hero is sent to the search engine by a job', async (t) => {
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`)
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  assert.ok(address !== null && typeof address === 'object')
  process.env['SEARCH_URL'] = `http://127.0.0.1:${address.port}`
  t.after(() => delete process.env['SEARCH_URL'])
  const app = await databaseApp(t, sqliteMemory, [FeedEvent, JobRecord], [], { jobs: [Search], work: { search: 1 } })
  await withSession(app.database, async (session) => feedsOf(session).publish(HeroSaved, { id: 7, name: 'Robin' }))
  await until('it is sent', () => requests.length === 1)
  assert.deepEqual(requests, ['PUT /heroes/7'])
})

test('the programs for Kafka and SQS are relays; they are not run against a server', async () => {
  const { toKafka } = await import('../../example/recipes/relays/kafka.js')
  const { toSqs } = await import('../../example/recipes/relays/sqs.js')
  assert.deepEqual([toKafka.name, toSqs.name], ['kafka', 'sqs'])
})
