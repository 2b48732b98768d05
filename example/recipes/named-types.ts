import { Controller, Get, Item, notFound, Page, Paginate, select, Session } from 'sequitur'
import { Hero } from '../hero.js'

@Controller('/heros')
export class NamedTypesController {
  @Get('/', Page.of(Hero), { params: [Paginate] })
  list(paginate: Paginate<Hero>) {
    return paginate(select(Hero))
  }

  @Get('/:hero_id', Item.of(Hero), { params: [Number, Session], errors: { 404: 'Hero not found' } })
  async get(hero_id: number, session: Session) {
    return { data: (await session.get(Hero, hero_id)) ?? notFound('Hero not found') }
  }
}
