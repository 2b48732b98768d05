import { Controller, Inject, Injectable, Item, notFound, Post, provide, Session, token } from 'sequitur'
import { Hero } from '../hero.js'

export interface Mailer {
  send(to: string, text: string): Promise<void>
}

export const mailer = token<Mailer>('mailer')

/** A new instance for each request, because it injects the session of the request. */
@Injectable()
class Invitations {
  constructor(
    private readonly session: Session,
    @Inject(mailer) private readonly mail: Mailer,
  ) {}

  async send(hero_id: number): Promise<Hero> {
    const hero = (await this.session.get(Hero, hero_id)) ?? notFound('Hero not found')
    this.session.afterCommit(() => this.mail.send(hero.name, 'Come to the meeting!'))
    return hero
  }
}

@Controller('/invitations')
export class InvitationController {
  @Post('/:hero_id', Item.of(Hero), { errors: { 404: 'Hero not found' } })
  async invite(hero_id: number, invitations: Invitations) {
    return { data: await invitations.send(hero_id) }
  }
}

export const providers = [provide(mailer, { value: { send: async (to, text) => console.log(`To ${to}: ${text}`) } })]
