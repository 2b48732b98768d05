import { Budget, Controller, Get, select, Session } from 'sequitur'
import { Hero } from '../hero.js'

@Budget({ statements: 2 })
@Controller('/peers')
export class PeerController {
  /** A statement for each hero: exceeds the budget as soon as there are two heroes. */
  @Get('/slow', [String]) async slow(session: Session) {
    const found: string[] = []
    for (const { name, age } of await session.all(select(Hero)))
      if ((await session.count(select(Hero, { where: { age } }))) > 1) found.push(name)
    return found
  }

  /** One statement for all. */
  @Get('/fast', [String]) async fast(session: Session) {
    const heroes = await session.all(select(Hero))
    const ages = heroes.map(({ age }) => age)
    return heroes.flatMap(({ name, age }) => (ages.indexOf(age) === ages.lastIndexOf(age) ? [] : [name]))
  }
}
