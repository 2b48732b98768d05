import { Controller, Get, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { Hero } from './hero.js'

/** For lists with "Load more": each page begins after the last row of the previous one, also when rows are added or deleted meanwhile. */
@Controller('/cursor/heros')
export class CursorHeroController {
  @Get('/', Page.of(Hero), { summary: 'List heroes, oldest first (by cursor)' })
  list(paginate: Paginate<Hero>) {
    return paginate(select(Hero, { order: [['age', 'DESC'], 'name'] }))
  }
}
