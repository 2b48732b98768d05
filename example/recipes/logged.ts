import { Body, Controller, Field, Injectable, notFound, Post, RequestLogger, Session } from 'sequitur'
import { Hero } from '../hero.js'

class NewName {
  @Field({ minLength: 1 }) name!: string
}

@Injectable()
class Renaming {
  constructor(
    private readonly session: Session,
    private readonly log: RequestLogger,
  ) {}

  async rename(hero_id: number, name: string): Promise<void> {
    const hero = (await this.session.get(Hero, hero_id)) ?? notFound('Hero not found')
    const before = hero.name
    await hero.update({ name })
    this.session.afterCommit(() => this.log.info('A hero was renamed', { hero_id, before, name }))
  }
}

@Controller('/names')
export class NameController {
  @Post('/:hero_id', { status: 204, errors: { 404: 'Hero not found' } })
  async rename(hero_id: number, @Body() { name }: NewName, renaming: Renaming) {
    await renaming.rename(hero_id, name)
  }
}
