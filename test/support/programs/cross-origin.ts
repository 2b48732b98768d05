// An app whose responses have an ETag. EXPOSED: the headers that cors() exposes, as JSON; without it there is no cors().
import cors from 'cors'
import { Controller, createApp, Get, Item, named } from 'sequitur'

const { EXPOSED } = process.env

@Controller('/clock')
class Clock {
  @Get('/', Item.of(named('Time', { hour: 'integer' }), { etag: true }))
  read() {
    return { data: { hour: 12 } }
  }
}

const other = (_request: unknown, _response: unknown, next: () => void) => next()
export const app = createApp({
  controllers: [Clock],
  middleware: EXPOSED === undefined ? [other] : [other, cors({ exposedHeaders: JSON.parse(EXPOSED) as string[] })],
})
