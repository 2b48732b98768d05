import { Controller, createApp, Events, Field, Get, newLifespan, Post, Query } from 'sequitur'
import { Event, Feed, FeedEvent, Feeds } from 'sequitur/feeds'

/*
 * Handlers that publish numbers to topics, for clients that follow them while they are cut off.
 */

@Event('numbered')
class Numbered {
  @Field({ type: 'integer' }) number!: number
  @Field() topic!: string
}

class Range {
  @Field({ type: 'integer' }) first!: number
  @Field({ type: 'integer' }) count!: number
  @Field() topic!: string
}

@Controller('/numbers')
class NumberController {
  @Get('/', Events.of(Numbered))
  follow(feed: Feed, @Query({ type: [String] }) topic: string[]) {
    return feed.follow([Numbered], { topics: topic })
  }

  @Post('/', { status: 204 })
  publish({ first, count, topic }: Range, feeds: Feeds) {
    for (let number = first; number < first + count; number++) feeds.publish(Numbered, { number, topic }, { topic })
  }
}

export const app = createApp({
  controllers: [NumberController],
  models: [FeedEvent],
  lifespan: newLifespan(undefined, { sync: true }),
})
await app.listen(0)
