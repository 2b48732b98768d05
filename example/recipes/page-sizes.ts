import { Controller, Field, Get, Inject, type MappedPaginate, newPagination, Page, select } from 'sequitur'
import { Hero } from '../hero.js'

class BigPages<T> extends newPagination({ defaultPageSize: 5, maxPageSize: 500 })<T> {}

class Badge {
  @Field() text!: string
}

const badges = newPagination({ map: ({ name, age }: Hero): Badge => ({ text: `${name} (${age})` }) })

@Controller('/sizes')
export class SizeController {
  @Get('/big', Page.of(Hero))
  big(paginate: BigPages<Hero>) {
    return paginate(select(Hero))
  }

  @Get('/badges', Page.of(Badge))
  badges(@Inject(badges) paginate: MappedPaginate<Hero, Badge>) {
    return paginate(select(Hero))
  }
}
