import { type Around, Controller, createApp, Field, Get, type Middleware, unauthorized } from 'sequitur'

class Timed {
  @Field() path!: string
  @Field({ type: 'number' }) milliseconds!: number
}

const noCache: Middleware = (_request, response, next) => {
  response.setHeader('cache-control', 'no-store')
  next()
}

const timed: Around = async (next) => {
  const start = performance.now()
  const path = await next()
  return { path, milliseconds: performance.now() - start }
}

@Controller('/files', { middleware: [noCache] })
class TreeController {
  @Get('/*path', Timed, { around: [timed] })
  find(path: string): never {
    if (path === 'secret') unauthorized('This is secret')
    return path as never // timed() makes a Timed of it
  }
}

export const app = createApp({ prefix: '/api', controllers: [TreeController] })
