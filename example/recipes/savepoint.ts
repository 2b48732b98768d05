import { Body, Controller, dto, Field, Post, Session } from 'sequitur'
import { UniqueConstraintError } from 'sequelize'
import { Hero } from '../hero.js'

class NewHero extends dto(Hero, { omit: ['id'] }) {}

class ImportResult {
  @Field({ type: 'integer' }) created!: number
  @Field({ type: [String] }) skipped!: string[]
}

@Controller('/imports')
export class ImportController {
  @Post('/', ImportResult)
  async create(@Body({ type: [NewHero], maxItems: 100 }) heroes: NewHero[], session: Session) {
    const skipped: string[] = []
    for (const hero of heroes) {
      try {
        await session.nested(() => Hero.create({ ...hero }))
      } catch (error) {
        if (!(error instanceof UniqueConstraintError)) throw error
        skipped.push(hero.name) // only this hero is rolled back
      }
    }
    return { created: heroes.length - skipped.length, skipped }
  }
}
