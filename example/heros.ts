import { Controller, Field, Get, Item, Page, Paginate, Post, Session, conflict, notFound, select } from 'sequitur'
import { UniqueConstraintError } from 'sequelize'
import { Hero } from './hero.js'

class HeroInput {
  @Field({ example: 'Robin' }) name!: string
  @Field({ example: 'Tim Drake' }) secret_identity!: string
  @Field({ type: 'integer', example: 17 }) age!: number
}

class HeroModel extends HeroInput {
  @Field({ type: 'integer', example: 13 }) id!: number
}

/** Three declarations: a model for the table, a class for the input, and a class for the response. */
@Controller('/heros')
export class HeroController {
  @Get('/', Page.of(HeroModel), { summary: 'List heroes' })
  list(paginate: Paginate<HeroModel>) {
    return paginate(select(Hero))
  }

  @Get('/:hero_id', Item.of(HeroModel), { summary: 'Get a hero', errors: { 404: 'Hero not found' } })
  async get(hero_id: number, session: Session) {
    return { data: (await session.get(Hero, hero_id)) ?? notFound('Hero not found') }
  }

  @Post('/', Item.of(HeroModel), { summary: 'Create a hero', errors: { 409: 'Duplicate hero name' } })
  async create(input: HeroInput, session: Session) {
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
