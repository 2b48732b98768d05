import { Controller, Field, Get, Item, notFound, Post, Session, sql, Transactional } from 'sequitur'
import { Hero } from '../hero.js'

class Oldest {
  @Field({ type: 'integer', nullable: true }) age!: number | null
}

@Controller('/ages')
export class AgeController {
  @Transactional({ isolation: 'serializable', retry: 3 })
  @Post('/:hero_id/birthday', Item.of(Hero), { status: 200, errors: { 404: 'Hero not found' } })
  async birthday(hero_id: number, session: Session) {
    const hero = (await session.get(Hero, hero_id)) ?? notFound('Hero not found')
    session.afterCommit(() => console.log(`${hero.name} is ${hero.age} now`))
    return { data: await hero.update({ age: hero.age + 1 }) }
  }

  @Transactional({ readOnly: true })
  @Get('/oldest', Oldest)
  async oldest(session: Session) {
    const [row] = await session.execute<Oldest>(sql`SELECT max(age) AS age FROM hero`)
    return row ?? { age: null }
  }

  @Transactional(false)
  @Get('/limits')
  limits() {
    return { youngest: 0 } // no transaction, and no session
  }
}
