import { Controller, Get, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { Hero } from './hero.js'

/** For lists with "Load more": each page begins where the last one ended, however deep, and whatever was written in between. */
@Controller('/cursor/heros')
export class CursorHeroController {
  @Get('/', Page.of(Hero), { summary: 'List heroes, oldest first (by cursor)' })
  list(paginate: Paginate<Hero>) {
    return paginate(select(Hero, { order: [['age', 'DESC'], 'name'] }))
  }
}
