import { Controller, Field, HttpError, Injectable, Item, notFound, Post, Session } from 'sequitur'
import { Hero } from '../hero.js'

class Birthday {
  @Field({ type: 'integer', minimum: 1, maximum: 10, default: 1 }) years!: number
}

@Injectable()
class HeroService {
  constructor(private readonly session: Session) {}

  async celebrate(hero_id: number, years: number): Promise<Hero> {
    const hero = (await this.session.get(Hero, hero_id, { lock: true })) ?? notFound('Hero not found')
    if (hero.age + years > 2000) throw new HttpError(409, 'Nobody gets that old')
    return hero.update({ age: hero.age + years })
  }
}

@Controller('/heroes')
export class BirthdayController {
  constructor(private readonly heroes: HeroService) {}

  @Post('/:hero_id/birthday', Item.of(Hero), { status: 200, errors: { 404: 'Hero not found', 409: 'Too old' } })
  async celebrate(hero_id: number, { years }: Birthday) {
    return { data: await this.heroes.celebrate(hero_id, years) }
  }
}
