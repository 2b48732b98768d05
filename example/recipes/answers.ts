import { Readable } from 'node:stream'
import { Controller, dto, file, Get, Item, notFound, Put, redirect, reply, select, Session } from 'sequitur'
import { Hero } from '../hero.js'

const stories = new URL('./stories/', import.meta.url)

class HeroDetails extends dto(Hero, { pick: ['secret_identity', 'age'] }) {}

@Controller('/heroes-by-name')
export class AnswerController {
  @Put('/:name', Item.of(Hero), { responses: { 201: Item.of(Hero) } })
  async put(name: string, details: HeroDetails, session: Session) {
    const known = await session.first(select(Hero, { where: { name } }))
    if (known) return { data: await known.update(details) }
    const data = await Hero.create({ name, ...details })
    return reply({ data }, { status: 201, headers: { location: `/heroes/${data.id}` } })
  }

  @Get('/:name', { status: 303, errors: { 404: 'Hero not found' } })
  async find(name: string, session: Session) {
    const hero = (await session.first(select(Hero, { where: { name } }))) ?? notFound('Hero not found')
    return redirect(`/heroes/${hero.id}`)
  }

  @Get('/', { produces: 'text/csv' })
  async download(session: Session) {
    const heroes = await session.all(select(Hero, { order: ['name'] }))
    const lines = heroes.map(({ name, age }) => `${name},${age}\n`)
    return file(Readable.from(lines), { type: 'text/csv', name: 'heroes.csv' })
  }
  @Get('/:name/story', { produces: 'text/plain', errors: { 404: 'There is no such file.' } })
  story(name: string) {
    return file(`${name}.txt`, { root: stories, type: 'text/plain; charset=utf-8' })
  }
}
