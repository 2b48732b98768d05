import { Controller, Get, select } from 'sequitur'
import { newPagination, TwoWayPage } from 'sequitur/cursor'
import { Hero } from '../hero.js'

class BothWays<T> extends newPagination({ prevCursor: true })<T> {}

@Controller('/both-ways')
export class BothWaysController {
  @Get('/', TwoWayPage.of(Hero))
  list(paginate: BothWays<Hero>) {
    return paginate(select(Hero, { order: ['name'] }))
  }
}
