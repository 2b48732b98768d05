import {
  conflict,
  Controller,
  Delete,
  dto,
  Events,
  Field,
  file,
  Get,
  Item,
  notFound,
  Patch,
  Post,
  select,
  Session,
} from 'sequitur'
import { Event, Feed, Feeds } from 'sequitur/feeds'
import { UniqueConstraintError } from 'sequelize'
import { Hero } from './hero.js'
import { NewHero } from './heroes.js'

/** What everybody may know. */
class PublicHero extends dto(Hero, { omit: ['secret_identity'] }) {}

@Event('hero.saved')
class HeroSaved extends PublicHero {}

@Event('hero.deleted')
class HeroDeleted {
  @Field({ type: 'integer' }) id!: number
}

class HeroChanges extends dto(NewHero, { partial: true }) {}

const TOPIC = { topic: 'heroes' }
const errors = { 404: 'Hero not found', 409: 'Duplicate hero name' }

/** Heroes that all browsers display as they are: each change is an event, which is committed with it. */
@Controller('/live')
export class LiveHeroController {
  @Get('/', { produces: 'text/html', summary: 'The page: open it in two windows' })
  page() {
    return file(new URL('live.html', import.meta.url), { type: 'text/html; charset=utf-8' })
  }

  @Get('/events', Events.of(HeroSaved, HeroDeleted), { summary: 'Changes of heroes, in the order of their commits' })
  follow(feed: Feed) {
    return feed.follow([HeroSaved, HeroDeleted], { topics: ['heroes'] })
  }

  @Get('/heroes', { data: [PublicHero] }, { summary: 'List the 50 newest heroes' })
  async list(session: Session) {
    return { data: await session.all(select(Hero, { order: [['id', 'DESC']], limit: 50 })) }
  }

  @Post('/heroes', Item.of(Hero), { summary: 'Create a hero, and publish it', errors: { 409: errors[409] } })
  async create(input: NewHero, session: Session, feeds: Feeds) {
    const hero = await save(session.add(Hero.build(input)), session)
    feeds.publish(HeroSaved, hero, TOPIC)
    return { data: hero }
  }

  @Patch('/heroes/:hero_id', Item.of(Hero), { summary: 'Change a hero, and publish it', errors })
  async change(hero_id: number, input: HeroChanges, session: Session, feeds: Feeds) {
    const hero = (await session.get(Hero, hero_id, { lock: true })) ?? notFound('Hero not found')
    await save(hero.set(input), session)
    feeds.publish(HeroSaved, hero, TOPIC)
    return { data: hero }
  }

  @Delete('/heroes/:hero_id', { summary: 'Delete a hero, and publish that', errors: { 404: errors[404] } })
  async remove(hero_id: number, session: Session, feeds: Feeds) {
    session.delete((await session.get(Hero, hero_id, { lock: true })) ?? notFound('Hero not found'))
    feeds.publish(HeroDeleted, { id: hero_id }, TOPIC)
  }
}

async function save(hero: Hero, session: Session): Promise<Hero> {
  try {
    session.add(hero)
    await session.flush()
  } catch (error) {
    if (error instanceof UniqueConstraintError) conflict('Duplicate hero name')
    throw error
  }
  return hero
}
