import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  Controller,
  createApp,
  Events,
  Field,
  Get,
  newLifespan,
  Post,
  Session,
  Transactional,
  withSession,
} from 'sequitur'
import { Event, Feed, FeedEvent, Feeds, feedsOf, InvalidEventData, subscribe } from 'sequitur/feeds'
import { Job, JobRecord } from 'sequitur/jobs'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { bootMessage } from '../support/api.js'
import { Hero } from '../support/hero.js'

/*
 * Mistakes in programs that publish and follow events: the start refuses what it can know, and each message says what to write instead.
 */

@Event('hero.saved')
class HeroSaved {
  @Field({ type: 'integer' }) id!: number
  @Field({ maxLength: 5 }) name!: string
}
@Event('hero.saved')
class OtherSaved extends HeroSaved {}
@Event('hero.seen', { order: 'none' })
class HeroSeen {
  @Field({ type: 'integer' }) id!: number
}
class Plain {
  @Field({ type: 'integer' }) id!: number
}
class Inherits extends HeroSaved {}

class SecondTable extends FeedEvent {}

for (const model of [FeedEvent, SecondTable, JobRecord])
  test(`a second database with ${model.name} is refused: the tables are in one`, async (t) => {
    const first = memoryDatabase({ models: [FeedEvent, JobRecord] })
    await first.start()
    t.after(() => first.stop())
    await assert.rejects(
      memoryDatabase({ models: [model] }).start(),
      /^BootError: The model \w+ is in use by another running database\. Close that app first, or leave it out of the models of this one: it is a table of this package/,
    )
  })

const declarations: readonly (readonly [mistake: () => unknown, message: RegExp])[] = [
  [
    () => Event('hero saved'),
    /^@Event\(\) is 'hero saved'\. Write letters, digits, and _ \. : - between them.*'hero\.saved'\.$/,
  ],
  [() => Event('a'.repeat(101)), /at most 100/],
  [() => Event('reset'), /^@Event\('reset'\): streams of events use this name\. Choose another\.$/],
  [() => Event('a', { order: 'some' as never }), /^@Event\('a'\): order is 'some'\. Write 'commit' or 'none'\.$/],
  [() => Event('a', { ordr: 'none' } as never), /^@Event\('a'\) has no option 'ordr'\. Did you mean 'order'\?$/],
  [() => Reflect.apply(Event, undefined, [Plain]), /@Event\('hero\.saved'\)/],
]

for (const [mistake, message] of declarations)
  test(`a declaration: ${message}`, () => assert.throws(mistake, { message }))

@Controller()
class Publishes {
  @Post('/') publish(feeds: Feeds) {
    feeds.publish(HeroSaved, { id: 1, name: 'Robin' })
  }
}
@Controller()
class Follows {
  @Get('/', Events.of(HeroSaved)) follow(feed: Feed) {
    return feed.follow([HeroSaved])
  }
}
class Jobs {
  @Job({ name: 'publishes' }) publish(feeds: Feeds) {
    feeds.publish(HeroSaved, { id: 1, name: 'Robin' })
  }
}

for (const [what, options] of [
  ['a handler that publishes', { controllers: [Publishes] }],
  ['a handler that follows', { controllers: [Follows] }],
  ['a job that publishes', { controllers: [], jobs: [Jobs] }],
] as const)
  test(`${what}, in an app without the table of events, fails at startup`, async () => {
    const app = createApp({ ...options, models: [Hero, JobRecord], lifespan: memoryDatabase(), logger: false })
    await assert.rejects(app.start(), {
      name: 'BootError',
      message:
        'createApp() has handlers that publish or follow events, and no table of events: add FeedEvent, of sequitur/feeds, to its models: models: [FeedEvent].',
    })
  })

test('a handler without a transaction that injects Feeds or Feed fails at startup', () => {
  @Controller()
  class PublishesWithout {
    @Transactional(false)
    @Post('/')
    publish(feeds: Feeds) {
      feeds.publish(HeroSaved, { id: 1, name: 'Robin' })
    }
  }
  @Controller()
  class FollowsWithout {
    @Transactional(false)
    @Get('/', Events.of(HeroSaved))
    follow(feed: Feed) {
      return feed.follow([HeroSaved])
    }
  }
  const options = { models: [FeedEvent], lifespan: memoryDatabase() }
  assert.match(
    bootMessage([PublishesWithout], options),
    /injects Feeds, which needs a Session\. Remove the decorator, or open sessions yourself: withSession\(async \(session\) => \{ feedsOf\(session\)\.publish\(/,
  )
  assert.match(
    bootMessage([FollowsWithout], options),
    /injects Feed, which needs a Session\. Remove the decorator, or open sessions yourself: withSession\(async \(session\) => \{ const events = await subscribe\(session, /,
  )
})

const follow =
  (events: readonly (new () => object)[], options: object = {}) =>
  (session: Session) =>
    subscribe(session, events as readonly [new () => object], options)

const publish = (mistake: (feeds: Feeds) => void) => (session: Session) => mistake(feedsOf(session))

const calls: readonly (readonly [mistake: (session: Session) => unknown, message: RegExp])[] = [
  [
    publish((feeds) => feeds.publish(Plain, { id: 1 })),
    /^feeds\.publish\(\): Plain is not an event\. Put @Event\('hero\.saved'\) on its class\.$/,
  ],
  // What it extends has another type.
  [
    publish((feeds) => feeds.publish(Inherits, { id: 1, name: 'Robin' })),
    /^feeds\.publish\(\): Inherits is not an event\./,
  ],
  [
    publish((feeds) => feeds.publish(HeroSaved, { id: 1, name: 'Batgirl' })),
    /^The data of the event hero\.saved does not fit its class: \/name does not fit, declared at most 5 characters\.$/,
  ],
  [
    // @ts-expect-error the name is missing
    publish((feeds) => feeds.publish(HeroSaved, { id: 1 })),
    /^The data of the event hero\.saved does not fit its class: \/name is missing/,
  ],
  [
    publish((feeds) => feeds.publish(HeroSaved, { id: 1, name: 'a\0' })),
    /^The data of the event hero\.saved does not fit its class: \/name must not contain U\+0000 or half of a surrogate pair\.$/,
  ],
  ...['', ' team', 'a'.repeat(101)].map(
    (topic) =>
      [
        publish((feeds) => feeds.publish(HeroSaved, { id: 1, name: 'Robin' }, { topic })),
        /^feeds\.publish\(HeroSaved\): topic is .*\. Write a text of 1 to 100 characters without spaces around it: `team-\$\{team\.id\}`\.$/,
      ] as const,
  ),
  [
    // @ts-expect-error it is one topic
    publish((feeds) => feeds.publish(HeroSaved, { id: 1, name: 'Robin' }, { topics: ['team-7'] })),
    /^feeds\.publish\(HeroSaved\) has no option 'topics'\. Did you mean 'topic'\?$/,
  ],
  [follow([Plain]), /^subscribe\(\): Plain is not an event\./],
  [
    follow([HeroSeen]),
    /^subscribe\(\): hero\.seen has order: 'none'\. Only events in the order of their commits can be followed\.$/,
  ],
  [
    follow([HeroSaved, OtherSaved]),
    /^subscribe\(\): two classes have the type hero\.saved: HeroSaved and OtherSaved\. Write one of them\.$/,
  ],
  [follow(HeroSaved as never), /^subscribe\(\) takes a list, got the class HeroSaved\. Write \[HeroSaved\]\.$/],
  [follow([]), /^subscribe\(\): the list of events is empty\. Write \[HeroSaved\]\.$/],
  [follow([HeroSaved], { topics: [] }), /topics has 0 topics\. Follow 1 to 8 in one stream\.$/],
  [
    follow([HeroSaved], { topics: Array.from({ length: 9 }, (_, n) => `team-${n}`) }),
    /^One stream has 1 to 8 topics, and not 9\.$/,
  ],
  [
    follow([HeroSaved], { topics: [' team-7'] }),
    /^The topic is not a text of 1 to 100 characters without spaces around it\.$/,
  ],
  [follow([HeroSaved], { topics: 'team-7' }), /topics/],
  [follow([HeroSaved], { topics: [7] }), /topics is 7\. Write a text of 1 to 100 characters/],
  [follow([HeroSaved], { after: 'x' }), /The last event id is none of this stream\. Connect without it\.$/],
  [follow([HeroSaved], { topic: 'team-7' }), /^subscribe\(\) has no option 'topic'\. Did you mean 'topics'\?$/],
]

for (const [mistake, message] of calls)
  test(`a call: ${message}`, async (t) => {
    const lifespan = memoryDatabase()
    const api = await testApp({ controllers: [], models: [FeedEvent], lifespan, logger: false })
    t.after(api.close)
    await assert.rejects(
      withSession(lifespan, async (session) => mistake(session)),
      (error) => error instanceof Error && (assert.match(error.message, message), true),
    )
    assert.equal(await withSession(lifespan, () => FeedEvent.count()), 0)
  })

test('data that cannot be published are an error with the issues', async (t) => {
  const lifespan = memoryDatabase()
  const api = await testApp({ controllers: [], models: [FeedEvent], lifespan, logger: false })
  t.after(api.close)
  await withSession(lifespan, async (session) => {
    const name = 'Batgirl'
    assert.throws(
      () => feedsOf(session).publish(HeroSaved, { id: 1, name }),
      (error) => error instanceof InvalidEventData && error.issues[0]?.path === '/name',
    )
  })
})

test('events of a database whose sessions the handler does not use are refused', async (t) => {
  const main = memoryDatabase()
  const other = newLifespan('sqlite+sqlite3:///:memory:', { models: [FeedEvent], sync: true })
  const api = await testApp({ controllers: [], models: [Hero], lifespan: [main, other], logger: false })
  t.after(api.close)
  await assert.rejects(
    withSession(main, async (session) => feedsOf(session).publish(HeroSaved, { id: 1, name: 'Robin' })),
    /^Error: feeds\.publish\(\): the table of events is in another database than the current session\. Add FeedEvent to the models of the database in which the handler writes\.$/,
  )
})

test('the compiler compares what is followed with what the route declares', () => {
  @Controller()
  class Compared {
    @Get('/both', Events.of(HeroSaved, Plain)) both(feed: Feed) {
      return feed.follow([HeroSaved])
    }
    // @ts-expect-error a route of other events
    @Get('/other', Events.of(HeroSaved)) other(feed: Feed) {
      return feed.follow([HeroSeen])
    }
    // @ts-expect-error a route that declares no events
    @Get('/none', HeroSaved) none(feed: Feed) {
      return feed.follow([HeroSaved])
    }
  }
  assert.ok(Compared)
})
