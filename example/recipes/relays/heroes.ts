import { jetstream } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { Controller, createApp, dto, Item, newLifespan, Post } from 'sequitur'
import { FeedEvent, Feeds, forward } from 'sequitur/feeds'
import { Hero } from '../../hero.js'
import { HeroSaved } from './hero-saved.js'

class NewHero extends dto(Hero, { omit: ['id'] }) {}

@Controller('/heroes')
class HeroController {
  @Post('/', Item.of(Hero))
  async create(input: NewHero, feeds: Feeds) {
    const hero = await Hero.create({ ...input })
    feeds.publish(HeroSaved, { id: hero.id, name: hero.name }, { topic: 'heroes' }) // if the hero is committed
    return { data: hero }
  }
}

let connection: NatsConnection | undefined

const toNats = forward({ name: 'nats', events: [HeroSaved] }, async (events) => {
  connection ??= await connect({
    servers: process.env['NATS_URL'] ?? 'nats://127.0.0.1:4222',
    maxReconnectAttempts: -1,
  })
  const stream = jetstream(connection)
  for (const { id, data } of events) await stream.publish('example.heroes', JSON.stringify(data), { msgID: id })
})

const app = createApp({
  controllers: [HeroController],
  models: [Hero, FeedEvent],
  relays: [toNats],
  work: {}, // in this process; without it: npx sequitur work
  lifespan: newLifespan(undefined, { defaultUrl: 'sqlite+sqlite3:///./heroes.sqlite', sync: true }),
})
await app.listen(Number(process.env['PORT'] ?? 8000))
