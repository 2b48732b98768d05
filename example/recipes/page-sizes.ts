import {
  Controller,
  Field,
  Get,
  Inject,
  Injectable,
  type MappedPaginate,
  newPagination,
  Page,
  select,
  Session,
  UncountedPage,
} from 'sequitur'
import { Hero } from '../hero.js'

class BigPages<T> extends newPagination({ defaultPageSize: 5, maxPageSize: 500 })<T> {}
class UncountedPages<T> extends newPagination({ count: false })<T> {}
class LongLists<T> extends newPagination({ countUpTo: 10_000 })<T> {}

class Badge {
  @Field() text!: string
}

const badges = newPagination({ map: ({ name, age }: Hero): Badge => ({ text: `${name} (${age})` }) })

@Injectable()
class Ranking {
  constructor(private readonly session: Session) {}

  async mapPage(heroes: Hero[]): Promise<Badge[]> {
    const oldest = await this.session.first(select(Hero, { order: [['age', 'DESC']] }))
    return heroes.map(({ name, age }) => ({ text: `${name}: ${age} of ${oldest?.age}` }))
  }
}
const ranking = newPagination({ mapPage: Ranking })

@Controller('/sizes')
export class SizeController {
  @Get('/big', Page.of(Hero))
  big(paginate: BigPages<Hero>) {
    return paginate(select(Hero))
  }

  @Get('/uncounted', UncountedPage.of(Hero))
  uncounted(paginate: UncountedPages<Hero>) {
    return paginate(select(Hero))
  }

  @Get('/up-to', Page.of(Hero))
  upTo(paginate: LongLists<Hero>) {
    return paginate(select(Hero))
  }

  @Get('/badges', Page.of(Badge))
  badges(@Inject(badges) paginate: MappedPaginate<Hero, Badge>) {
    return paginate(select(Hero))
  }

  @Get('/ranking', Page.of(Badge))
  ranking(@Inject(ranking) paginate: MappedPaginate<Hero, Badge>) {
    return paginate(select(Hero))
  }
}
