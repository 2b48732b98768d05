import { Controller, dto, Item, Put, reply, select, Session } from 'sequitur'
import { Hero } from '../hero.js'

class HeroDetails extends dto(Hero, { pick: ['secret_identity', 'age'] }) {}

@Controller('/heroes-by-name')
export class UpsertController {
  @Put('/:name', Item.of(Hero), { responses: { 201: Item.of(Hero) } })
  async put(name: string, details: HeroDetails, session: Session) {
    const known = await session.first(select(Hero, { where: { name } }))
    if (known) return { data: await known.update(details) }
    const data = await Hero.create({ name, ...details })
    return reply({ data }, { status: 201, headers: { location: `/heroes/${data.id}` } })
  }
}
