import { Controller, Get, Page, Paginate, select } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { Hero } from '../hero.js'

@Controller('/rankings')
export class RankingController {
  /** `?offset=20&limit=10`, with totals. */
  @Get('/', Page.of(Hero))
  list(paginate: Paginate<Hero>) {
    return paginate(select(Hero, { order: [['age', 'DESC']] }))
  }

  /** `?limit=10&next_cursor=...`, as fast for the last page as for the first one. */
  @Get('/endless', CursorPage.of(Hero))
  endless(paginate: CursorPaginate<Hero>) {
    return paginate(select(Hero, { order: [['age', 'DESC'], 'id'] }))
  }
}
