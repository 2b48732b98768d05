import { Controller, dto, Item, notFound, Post, Session } from 'sequitur'
import { Hero } from '../hero.js'

class NewHero extends dto(Hero, { omit: ['id'] }) {}

@Controller('/sidekicks')
export class SidekickController {
  @Post('/:hero_id', Item.of(Hero), { errors: { 404: 'Hero not found' } })
  async recruit(hero_id: number, input: NewHero, session: Session) {
    const hero = (await session.get(Hero, hero_id, { lock: true })) ?? notFound('Hero not found')
    await hero.update({ age: hero.age + 1 })
    const sidekick = session.add(Hero.build(input)) // both are written, or, if anything fails, neither
    session.afterCommit(() => console.log(`${hero.name} and ${sidekick.name}`))
    return { data: sidekick } // sent after COMMIT
  }
}
