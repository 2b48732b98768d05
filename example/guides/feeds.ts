import { Controller, createApp, dto, Events, Field, Get, Item, newLifespan, Post } from 'sequitur'
import { Event, Feed, FeedEvent, Feeds } from 'sequitur/feeds'
import { Hero } from '../hero.js'

@Event('hero.saved')
class HeroSaved {
  @Field({ type: 'integer' }) id!: number
  @Field() name!: string
}

class NewHero extends dto(Hero, { omit: ['id'] }) {}

@Controller('/heroes')
class HeroController {
  @Post('/', Item.of(Hero))
  async create(input: NewHero, feeds: Feeds) {
    const hero = await Hero.create({ ...input })
    feeds.publish(HeroSaved, { id: hero.id, name: hero.name }) // exists if the hero does
    return { data: hero }
  }

  @Get('/events', Events.of(HeroSaved))
  follow(feed: Feed) {
    return feed.follow([HeroSaved]) // first what the client has missed, then each event as it is committed
  }
}

const app = createApp({
  controllers: [HeroController],
  models: [Hero, FeedEvent],
  lifespan: newLifespan(undefined, { defaultUrl: 'sqlite+sqlite3:///./heroes.sqlite', sync: true }),
})
await app.listen(Number(process.env['PORT'] ?? 8000))
