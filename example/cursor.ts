import { Controller, createApp, Field, Get, select } from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import { database } from './database.js'
import { fill } from './fill.js'
import { Hero } from './hero.js'
import { migrate } from './migrate.js'

class HeroModel {
  @Field({ type: 'integer' }) id!: number
  @Field() name!: string
  @Field() secret_identity!: string
  @Field({ type: 'integer' }) age!: number
}

/** A list by cursor at the path of the offset list. */
@Controller('/heros')
class HeroController {
  @Get('/', Page.of(HeroModel))
  list(paginate: Paginate<HeroModel>) {
    return paginate(select(Hero, { order: [['age', 'DESC'], 'name'] }))
  }
}

const app = createApp({
  controllers: [HeroController],
  lifespan: database,
  info: { title: 'Heroes by cursor', version: '1.0.0', license: { name: 'MIT', identifier: 'MIT' } },
})

await migrate()
await app.start()
await fill()
await app.listen(Number(process.env['PORT'] ?? 8000), process.env['HOST'])
