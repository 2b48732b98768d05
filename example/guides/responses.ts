import { Controller, file, Get, Item, notFound, Post, redirect, reply, Session } from 'sequitur'
import { Hero } from '../hero.js'

@Controller('/visits')
export class VisitController {
  @Get('/:hero_id', Item.of(Hero), { errors: { 404: 'Hero not found' } })
  async get(hero_id: number, session: Session) {
    return { data: (await session.get(Hero, hero_id)) ?? notFound('Hero not found') }
  }

  @Post('/:hero_id', { accepted: Boolean }, { status: 202 })
  visit(hero_id: number) {
    return reply({ accepted: true }, { headers: { location: `/visits/${hero_id}` } })
  }

  @Get('/:hero_id/card', { produces: 'text/plain' })
  card(hero_id: number) {
    return file(Buffer.from(`Hero ${hero_id}`), { type: 'text/plain', name: 'card.txt' })
  }

  @Get('/latest/card', { status: 303 })
  latest() {
    return redirect('/visits/1/card')
  }
}
