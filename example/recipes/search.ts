import { Controller, Get, Page, Paginate, select, Session } from 'sequitur'
import { literal, Op } from 'sequelize'
import { Hero } from '../hero.js'

/** A condition for values that begin with this prefix. `%` and `_` in it match only themselves. */
export function startsWith(prefix: string, { sequelize }: Session) {
  const pattern = `${prefix.replace(/[!%_]/g, '!$&')}%`
  return { [Op.like]: literal(`${sequelize.escape(pattern)} ESCAPE '!'`) }
}

@Controller('/search')
export class SearchController {
  @Get('/', Page.of(Hero))
  search(name: string, session: Session, paginate: Paginate<Hero>) {
    return paginate(select(Hero, { where: { name: startsWith(name, session) } }))
  }
}
