import {
  Controller,
  type Events as EventsOf,
  Events,
  Field,
  Get,
  Post,
  Query,
  type Reply,
  Session,
  sql,
} from 'sequitur'
import { Event, Feed, Feeds } from 'sequitur/feeds'

/*
 * An event, and an app that publishes and follows it.
 */

@Event('hero.saved')
export class HeroSaved {
  @Field({ type: 'integer' }) number!: number
  @Field({ optional: true }) at?: Date
}

/** What a handler does with the events that it has published. */
export class Publication {
  @Field({ type: [Number] }) numbers!: number[]
  @Field() topic!: string
  /** 'throws', 'rolls back', 'in a savepoint', or 'in a savepoint that fails' */
  @Field({ optional: true }) how?: string
}

@Controller('/heroes')
export class HeroController {
  @Post('/')
  async publish(input: Publication, feeds: Feeds, session: Session) {
    const { numbers, topic, how } = input
    await session.execute(sql`SELECT 1 AS one`)
    const publish = (number: number) => feeds.publish(HeroSaved, { number }, { topic })
    const [first, ...others] = numbers
    if (first !== undefined) publish(first)
    const publishOthers = () => {
      for (const number of others) publish(number)
      return Promise.resolve()
    }
    switch (how) {
      case 'throws':
        await publishOthers()
        throw new Error('no such hero')
      case 'rolls back':
        session.rollback()
        return publishOthers()
      case 'in a savepoint':
        return session.nested(publishOthers)
      case 'in a savepoint that fails':
        return session
          .nested(async () => {
            await publishOthers()
            throw new Error('undone')
          })
          .catch(() => {})
      default:
        return publishOthers()
    }
  }

  @Get('/events', Events.of(HeroSaved))
  follow(
    feed: Feed,
    @Query({ default: 'heroes' }) topics: string,
    @Query({ type: 'integer', default: 600_000 }) age: number,
  ): Promise<Reply<EventsOf<HeroSaved>>> {
    return feed.follow([HeroSaved], { topics: topics.split(','), maxAge: age })
  }
}
