import { Controller, Get, Item, Page, Paginate, Post, Session, conflict, dto, notFound, select } from 'sequitur'
import { UniqueConstraintError } from 'sequelize'
import { Hero } from './hero.js'

export class NewHero extends dto(Hero, { omit: ['id'] }) {}

/** One declaration: the model is the response type, and the input class is derived from it. */
@Controller('/heroes')
export class HeroesController {
  @Get('/', Page.of(Hero), { summary: 'List heroes (one declaration)' })
  list(paginate: Paginate<Hero>) {
    return paginate(select(Hero))
  }

  @Get('/:hero_id', Item.of(Hero), { summary: 'Get a hero (one declaration)', errors: { 404: 'Hero not found' } })
  async get(hero_id: number, session: Session) {
    return { data: (await session.get(Hero, hero_id)) ?? notFound('Hero not found') }
  }

  @Post('/', Item.of(Hero), { summary: 'Create a hero (one declaration)', errors: { 409: 'Duplicate hero name' } })
  async create(input: NewHero, session: Session) {
    const hero = session.add(Hero.build(input))
    try {
      await session.flush()
    } catch (error) {
      if (error instanceof UniqueConstraintError) conflict('Duplicate hero name')
      throw error
    }
    return { data: hero }
  }
}
