import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Controller, Get, Post, select, Session, sql, Transactional } from 'sequitur'
import { FeedEvent, Feeds, feedsOf } from 'sequitur/feeds'
import { Job, JobRecord, Jobs } from 'sequitur/jobs'
import { databaseApp, databases, type TestDatabase } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { follow, Numbered, NumberedController } from './numbered.js'

/*
 * Wherever an event is published, followers receive it if, and only if, the transaction of that place is committed.
 */

const TOPIC = 'places'
const publish = (feeds: Feeds, number: number) => feeds.publish(Numbered, { number, topic: TOPIC }, { topic: TOPIC })

/** Caught where it is thrown. */
class Undone extends Error {}

async function undone(session: Session, work: () => Promise<void>): Promise<void> {
  const failing = session.nested(async () => {
    await work()
    throw new Undone()
  })
  await failing.catch((error: unknown) => assert.ok(error instanceof Undone, String(error)))
}

let runs = 0

class PlaceJobs {
  @Job({ name: 'place.publish' })
  publish(input: Numbered, feeds: Feeds) {
    publish(feeds, input.number)
  }

  @Job({ name: 'place.fails', attempts: 2 })
  async fails(input: Numbered, session: Session, feeds: Feeds) {
    await Hero.create({ name: `hero of run ${++runs}` })
    publish(feeds, runs === 1 ? -1 : input.number)
    if (runs === 1) throw new Error('the first run fails')
    void session
  }
}

/** Each publishes its own number, and what is negative must not be received. */
@Controller('/places')
class PlaceController {
  @Get('/1') onlyRead(feeds: Feeds) {
    publish(feeds, 1)
    return {}
  }
  @Get('/2') async afterRead(session: Session, feeds: Feeds) {
    await session.all(select(Hero))
    publish(feeds, 2)
    return {}
  }
  @Get('/3') async beforeRead(session: Session, feeds: Feeds) {
    publish(feeds, 3)
    await session.first(select(Hero))
    await session.all(select(Team))
    return {}
  }
  @Post('/4', { status: 204 }) only(feeds: Feeds) {
    publish(feeds, 4)
  }
  @Post('/5', { status: 204 }) queued(session: Session, feeds: Feeds) {
    session.add(Hero.build({ name: 'five' }))
    publish(feeds, 5)
  }
  @Post('/6', { status: 204 }) async afterSavepoints(session: Session, feeds: Feeds) {
    await undone(session, async () => {
      await Hero.create({ name: 'six' })
      publish(feeds, -6)
      await session.nested(async () => publish(feeds, -6))
    })
    await session.nested(async () => {
      await undone(session, async () => publish(feeds, -6))
      publish(feeds, 6)
    })
  }
  @Post('/7', { status: 204 }) afterEnd(session: Session, feeds: Feeds) {
    session.afterEnd(async (own) => publish(feedsOf(own), 7))
    publish(feeds, -7)
    session.rollback()
  }
  @Post('/8', { status: 204 }) afterResponse(session: Session) {
    session.afterResponse(async (own) => publish(feedsOf(own), 8))
  }
  @Post('/9', { status: 204 }) async byJob(jobs: Jobs) {
    await jobs.add(PlaceJobs, 'publish', { number: 9, topic: TOPIC })
  }
  @Post('/10', { status: 204 }) async byJobThatFails(jobs: Jobs) {
    await jobs.add(PlaceJobs, 'fails', { number: 10, topic: TOPIC })
  }
  @Post('/11', { status: 204 }) async afterRefusal(session: Session, feeds: Feeds) {
    await Hero.create({ name: 'eleven' })
    await undone(session, async () => {
      publish(feeds, -11)
      await Hero.create({ name: 'eleven' }).catch(() => {}) // refused: it is there
    })
    publish(feeds, 11)
  }
  @Transactional({ isolation: 'serializable', retry: 3 })
  @Post('/12', { status: 204 })
  async serializable(session: Session, feeds: Feeds) {
    await session.execute(sql`SELECT COUNT(*) FROM hero`)
    publish(feeds, 12)
  }
  @Post('/refused', { status: 204 }) async refused(feeds: Feeds) {
    await Hero.create({ name: 'refused' })
    publish(feeds, -20)
    await Hero.create({ name: 'refused' }).catch(() => {}) // nothing of the transaction can be committed
  }
  @Post('/closed', { status: 204 }) closed(session: Session, feeds: Feeds) {
    session.afterCommit(() => publish(feeds, -21))
  }
  @Post('/last', { status: 204 }) last(feeds: Feeds) {
    publish(feeds, 99)
  }
}

const PLACES = Array.from({ length: 12 }, (_, index) => index + 1)

function start(t: TestContext, kind: TestDatabase, fastPath: boolean) {
  return databaseApp(t, kind, [Hero, Team, FeedEvent, JobRecord], [PlaceController, NumberedController], {
    lifespan: { echo: false, fastPath },
    jobs: [PlaceJobs],
    work: { default: 2 },
  })
}

for (const kind of databases)
  for (const fastPath of [true, false]) {
    const path = fastPath ? 'the fast path' : 'the reference path'
    test(`${kind.name}: an event is received wherever it is published, if that is committed, on ${path}`, async (t) => {
      runs = 0
      const { url } = await start(t, kind, fastPath)
      const client = await follow(t, url, [TOPIC])
      const ask = async (place: string, method = 'POST') => (await fetch(`${url}/places/${place}`, { method })).status
      for (const place of PLACES) {
        const status = await ask(String(place), place <= 3 ? 'GET' : 'POST')
        assert.ok(status === 200 || status === 204, `${place}: ${status}`)
        await client.has(place)
      }
      assert.equal(await ask('refused'), 500)
      await ask('closed')
      await ask('last')
      await client.has(99)
      assert.deepEqual(client.numbers(), [...PLACES, 99])
    })
  }
