import { Controller, HttpError, invalidInput, notFound, Post, Session } from 'sequitur'
import { Hero } from '../hero.js'

const issue = { in: 'path', path: '/hero_id', message: 'must be the id of an adult' } as const

@Controller('/members')
export class MemberController {
  @Post('/:hero_id', { status: 204, errors: { 402: 'The trial has ended', 404: 'Hero not found' } })
  async join(hero_id: number, session: Session) {
    const hero = (await session.get(Hero, hero_id)) ?? notFound('Hero not found')
    if (hero.age < 18) invalidInput('A member must be an adult.', [issue])
    if (hero.age > 1000) throw new HttpError(402, 'The trial has ended')
  }
}
