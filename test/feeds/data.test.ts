import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Base, Controller, dto, Events, Field, Get, select, withSession } from 'sequitur'
import { Event, Feed, FeedEvent, feedsOf, On, subscribe } from 'sequitur/feeds'
import { JobRecord } from 'sequitur/jobs'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { databaseApp, databases } from '../support/databases.js'
import { EventClient } from '../support/event-source.js'
import { until } from '../support/waiting.js'

/*
 * The data of events are values that are sent: what only the database sets is in them, and what is never sent is not.
 */

@Table({ tableName: 'note', updatedAt: false })
class Note extends Base<Note> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare text: string
  @Column({ type: DataType.DATE(3), allowNull: false }) declare createdAt: CreationOptional<Date>
}

@Event('note.saved')
class NoteSaved extends dto(Note, { pick: ['id', 'text', 'createdAt'] }) {
  @Field({ default: 3 }) stars!: number
}

/** As it was before it had stars. */
@Event('note.saved')
class OldNoteSaved extends dto(Note, { pick: ['id', 'text', 'createdAt'] }) {
  @Field() colour!: string
}

const received: NoteSaved[] = []

class Search {
  @On(NoteSaved, { name: 'search' })
  index(event: NoteSaved) {
    received.push(event)
  }
}

@Controller('/notes')
class NoteController {
  @Get('/events', Events.of(NoteSaved))
  follow(feed: Feed) {
    return feed.follow([NoteSaved], { topics: ['notes'] })
  }
}

for (const kind of databases)
  test(`${kind.name}: what only the database sets is published, and what is not declared is not`, async (t) => {
    const app = await databaseApp(t, kind, [Note, FeedEvent, JobRecord], [NoteController], { jobs: [Search] })
    const client = new EventClient(`${app.url}/notes/events`)
    t.after(() => client.close())
    await until('it is connected', () => client.lastId !== '')
    const options = { topics: ['notes'] }
    const events = await withSession(app.database, (session) => subscribe(session, [NoteSaved], options))
    const note = await withSession(app.database, async (session) => {
      const made = await Note.create({ text: 'Tea' })
      const data = { ...made.get(), stars: 5, colour: 'secret' }
      feedsOf(session).publish(NoteSaved, data, { topic: 'notes' })
      return made
    })
    const expected = { id: note.id, text: 'Tea', createdAt: note.createdAt, stars: 5 }
    await until('it arrives', () => client.received.length === 1)
    assert.deepEqual(JSON.parse(client.received[0]?.data ?? ''), JSON.parse(JSON.stringify(expected)))
    const { value } = await events.next()
    await events.return?.()
    assert.deepEqual({ ...value?.data }, expected)
    received.length = 0
    await app.jobs.run()
    assert.deepEqual(
      received.map((data) => ({ ...data })),
      [expected],
    )
    const rows = await withSession(app.database, (session) => session.all(select(FeedEvent)))
    assert.doesNotMatch(JSON.stringify(rows), /secret/)
  })

for (const kind of databases)
  test(`${kind.name}: an event of an older version has the default of a field that it lacks, and not what was removed`, async (t) => {
    const app = await databaseApp(t, kind, [Note, FeedEvent, JobRecord], [NoteController], { jobs: [Search] })
    const client = new EventClient(`${app.url}/notes/events`)
    t.after(() => client.close())
    await until('it is connected', () => client.lastId !== '')
    const data = { id: 1, text: 'Tea', createdAt: new Date(0) }
    await withSession(app.database, async (session) => {
      feedsOf(session).publish(OldNoteSaved, { ...data, colour: 'red' }, { topic: 'notes' })
    })
    await until('it arrives', () => client.received.length === 1)
    assert.deepEqual(JSON.parse(client.received[0]?.data ?? ''), {
      ...data,
      createdAt: data.createdAt.toISOString(),
      stars: 3,
    })
  })
