import { Controller, Get, Page, Paginate } from 'sequitur'
import { listOf } from 'sequitur/lists'
import { Hero } from '../hero.js'

class HeroList extends listOf(Hero, {
  filter: { name: ['eq', 'contains'], age: ['gte', 'lt'] },
  sort: ['name', 'age'],
  defaultSort: ['name'],
  unindexed: ['age'], // there are few heroes
}) {}

@Controller('/hero-list')
export class HeroListController {
  @Get('/', Page.of(Hero))
  list(query: HeroList, paginate: Paginate<Hero>) {
    return paginate(query.select())
  }
}
