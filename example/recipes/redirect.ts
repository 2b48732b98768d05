import { Controller, Get, notFound, redirect, select, Session } from 'sequitur'
import { Hero } from '../hero.js'

@Controller('/heroes-by-name')
export class RedirectController {
  @Get('/:name', { status: 303, errors: { 404: 'Hero not found' } })
  async find(name: string, session: Session) {
    const hero = (await session.first(select(Hero, { where: { name } }))) ?? notFound('Hero not found')
    return redirect(`/heroes/${hero.id}`)
  }

  @Get('/:name/wiki', { status: 307 })
  wiki(name: string) {
    const url = `https://en.wikipedia.org/wiki/${encodeURIComponent(name)}`
    return redirect(url, { status: 307, external: true })
  }
}
