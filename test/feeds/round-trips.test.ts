import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { Base, Controller, Field, Post } from 'sequitur'
import { Feeds } from 'sequitur/feeds'
import { Column, DataType, Table } from 'sequelize-typescript'
import { databaseApp, postgres, skipIfShared } from '../support/databases.js'
import { post } from '../support/processes.js'
import { watchedNetwork } from '../support/watched-network.js'
import { feedModels, Numbered } from './numbered.js'

const skip = skipIfShared || (process.env['toolkit_fast_path'] === 'false' && 'each statement is a message there')

@Table({ tableName: 'entry', timestamps: false })
class Entry extends Base<Entry> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare number: number
}

class NewEntry {
  @Field({ type: 'integer' }) number!: number
  /** Events to publish, each in a topic of its own. */
  @Field({ type: 'integer' }) events!: number
}

@Controller('/entries')
class EntryController {
  @Post('/', { status: 204 })
  async create({ number, events }: NewEntry, feeds: Feeds) {
    await Entry.create({ number })
    for (let n = 0; n < events; n++) {
      const topic = `topic ${n}`
      feeds.publish(Numbered, { number, topic }, { topic })
    }
  }
}

test('PostgreSQL: a handler that publishes sends as many messages as one that does not', { skip }, async (t) => {
  let messages = 0
  /** Connections on which others are told of the events, after the commit. */
  const notifying = new Set<Socket>()
  const kind = {
    ...postgres,
    url: async () =>
      watchedNetwork(t, await postgres.url(), (bytes, client, upstream) => {
        const text = bytes.toString('latin1')
        if (/sequitur_feed/.test(text)) notifying.add(client)
        if (!notifying.has(client)) messages++
        else if (/\bCOMMIT\b/.test(text)) notifying.delete(client) // and not of READ COMMITTED
        upstream.write(bytes)
      }),
  }
  const { url } = await databaseApp(t, kind, [Entry, ...feedModels], [EntryController], { lifespan: { echo: false } })
  let number = 0
  // The fewest of some: its statements are prepared then on the connection that it has, which the notices may have had before.
  const messagesOf = async (events: number) => {
    const counts: number[] = []
    for (let run = 0; run < 12; run++) {
      messages = 0
      assert.equal((await post(`${url}/entries`, { number: number++, events })).status, 204)
      counts.push(messages)
    }
    return Math.min(...counts)
  }
  const without = await messagesOf(0)
  for (const events of [1, 3]) assert.equal(await messagesOf(events), without, `${events} events`)
})
