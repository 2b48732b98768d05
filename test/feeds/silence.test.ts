import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { Client } from 'pg'
import { withSession } from 'sequitur'
import { feedsOf } from 'sequitur/feeds'
import { databaseApp, postgres, skipIfShared } from '../support/databases.js'
import { silentNetwork } from '../support/silent-network.js'
import { until } from '../support/waiting.js'
import { feedModels, follow, Numbered, NumberedController } from './numbered.js'

// As another process publishes, whose connections were not cut.
const PUBLISH = `INSERT INTO feed_event (topic_key, topic, aggregatetype, aggregateid, type, created, id, payload)
  SELECT topic_key, topic, aggregatetype, aggregateid, type, created, $1, $2 FROM feed_event`

test(
  'PostgreSQL: a client receives what is published after the connections of its app were cut without a word',
  { timeout: 100_000, skip: skipIfShared },
  async (t) => {
    const url = await postgres.url()
    const network = await silentNetwork(t, url)
    const kind = { name: 'PostgreSQL', url: () => Promise.resolve(network.url) }
    const app = await databaseApp(t, kind, feedModels, [NumberedController], {
      lifespan: { echo: false, poolSize: 2 },
      timeouts: { drain: 500 },
    })
    const client = await follow(t, app.url, ['a'])
    await withSession(app.database, async (session) =>
      feedsOf(session).publish(Numbered, { number: 1, topic: 'a' }, { topic: 'a' }),
    )
    await client.has(1)
    network.silence()
    const other = new Client({ connectionString: url })
    await other.connect()
    await other.query(PUBLISH, [randomUUID(), JSON.stringify({ number: 2, topic: 'a' })])
    await other.end()
    await until('the client has it', () => client.numbers().includes(2), 100, 90_000)
    assert.deepEqual(client.numbers(), [1, 2])
  },
)
