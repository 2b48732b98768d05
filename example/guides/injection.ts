import { Controller, Get, Injectable, notFound, Session } from 'sequitur'
import { Hero } from '../hero.js'

/** A new one for each request, because it takes the session of the request. */
@Injectable()
class Greeter {
  constructor(private readonly session: Session) {}

  async greet(id: number): Promise<string> {
    const hero = (await this.session.get(Hero, id)) ?? notFound('Hero not found')
    return `Hello, ${hero.name}!`
  }
}

@Controller('/greeter')
export class GreeterController {
  @Get('/:hero_id', { text: String })
  async greet(hero_id: number, greeter: Greeter) {
    return { text: await greeter.greet(hero_id) }
  }
}
