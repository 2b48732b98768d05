import { Controller, dto, Item, notFound, Put, Session } from 'sequitur'
import { Hero } from '../hero.js'

class HeroChange extends dto(Hero, { omit: ['id'] }) {}

@Controller('/heroes')
export class HeroChangeController {
  @Put('/:hero_id', Item.of(Hero), { errors: { 404: 'Hero not found' } })
  async change(hero_id: number, change: HeroChange, session: Session) {
    const hero = (await session.get(Hero, hero_id)) ?? notFound('Hero not found')
    return { data: await hero.update(change) }
  }
}
