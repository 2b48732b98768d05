import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, createApp, Field, Post, Session, withSession } from 'sequitur'
import { Event, FeedEvent, Feeds, feedsOf, On } from 'sequitur/feeds'
import { Attempt, JobRecord } from 'sequitur/jobs'
import { databaseApp, databases } from '../support/databases.js'
import { until } from '../support/waiting.js'

@Event('hero.renamed')
class HeroRenamed {
  @Field({ type: 'integer' }) number!: number
  @Field({ optional: true }) at?: Date
}

@Event('hero.gone', { order: 'none' })
class HeroGone {
  @Field({ type: 'integer' }) number!: number
}

const seen: string[] = []

class Search {
  @On(HeroRenamed)
  async index(event: HeroRenamed, attempt: Attempt, session: Session) {
    assert.ok(event.at === undefined || event.at instanceof Date)
    assert.ok(session)
    seen.push(`${attempt.name} ${event.number}`)
  }

  @On(HeroRenamed, { name: 'search.count', queue: 'counts' })
  count() {
    seen.push('counted')
  }

  @On(HeroGone)
  remove(event: HeroGone) {
    seen.push(`removed ${event.number}`)
  }
}

class Renaming {
  @Field({ type: 'integer' }) number!: number
  @Field({ optional: true }) how?: string
}

@Controller('/heroes')
class HeroController {
  @Post('/')
  async rename({ number, how }: Renaming, feeds: Feeds, session: Session) {
    const publish = async () => feeds.publish(HeroRenamed, { number, at: new Date(0) })
    if (how === 'in a savepoint that fails')
      return session
        .nested(async () => {
          await publish()
          throw new Error('undone')
        })
        .catch(() => {})
    await publish()
    if (how === 'rolls back') session.rollback()
    if (how === 'throws') throw new Error('no such hero')
  }
}

for (const kind of databases)
  test(`a method with @On() runs for each event that is committed, and for no other, on ${kind.name}`, async (t) => {
    seen.length = 0
    const app = await databaseApp(t, kind, [FeedEvent, JobRecord], [HeroController], {
      jobs: [Search],
      work: { default: 2, counts: 1 },
    })
    const rename = (number: number, how?: string) =>
      app.fetch('/heroes', { method: 'POST', json: { number, ...(how === undefined ? {} : { how }) } })
    await rename(1)
    await rename(2, 'throws')
    await rename(3, 'rolls back')
    await rename(4, 'in a savepoint that fails')
    await withSession(app.database, async (session) => feedsOf(session).publish(HeroGone, { number: 5 }))
    await rename(6)
    await until('all have run', () => seen.length === 5)
    assert.deepEqual(seen.toSorted(), ['Search.index 1', 'Search.index 6', 'counted', 'counted', 'removed 5'])
  })

test('a method with @On() and another first parameter is refused at startup', () => {
  class Wrong {
    @On(HeroRenamed, { name: 'wrong' })
    index(_event: HeroGone) {}
  }
  assert.throws(
    () => createApp({ controllers: [], jobs: [Wrong], logger: false }),
    /Wrong\.index: its first parameter is another class than HeroRenamed/,
  )
})

test('the compiler refuses a first parameter that the event is not', () => {
  class Wrong {
    // @ts-expect-error The first parameter of a method with @On() is the event.
    @On(HeroRenamed, { name: 'wrong' })
    index(_session: Session) {}
  }
  assert.ok(Wrong)
})

test('a class without @Event() is refused', () => {
  assert.throws(() => On(Search), /Search is not an event/)
})
