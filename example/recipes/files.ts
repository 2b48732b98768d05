import { Readable } from 'node:stream'
import { Controller, file, Get, select, Session } from 'sequitur'
import { Hero } from '../hero.js'

const stories = new URL('./stories/', import.meta.url)

@Controller('/files')
export class FileController {
  @Get('/heroes', { produces: 'text/csv' })
  async download(session: Session) {
    const heroes = await session.all(select(Hero, { order: ['name'] }))
    const lines = heroes.map(({ name, age }) => `${name},${age}\n`)
    return file(Readable.from(lines), { type: 'text/csv', name: 'heroes.csv' })
  }

  @Get('/stories/:name', { produces: 'text/plain', errors: { 404: 'There is no such story.' } })
  story(name: string) {
    return file(`${name}.txt`, { root: stories, type: 'text/plain; charset=utf-8' })
  }
}
