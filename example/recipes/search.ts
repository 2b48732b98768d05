import { Controller, Get, Page, Paginate, select, Session } from 'sequitur'
import { literal, Op } from 'sequelize'
import { Hero } from '../hero.js'

/** A condition for values that begin with the text as it is: its `%` and `_` are no wildcards. */
export function startsWith(text: string, { sequelize }: Session) {
  const pattern = `${text.replace(/[!%_]/g, '!$&')}%`
  return { [Op.like]: literal(`${sequelize.escape(pattern)} ESCAPE '!'`) }
}

@Controller('/search')
export class SearchController {
  @Get('/', Page.of(Hero))
  search(name: string, session: Session, paginate: Paginate<Hero>) {
    return paginate(select(Hero, { where: { name: startsWith(name, session) } }))
  }
}
