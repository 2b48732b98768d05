import { subscribe } from 'node:diagnostics_channel'
import { Controller, createApp, Get } from 'sequitur'

@Controller('/things')
class Things {
  @Get('/:id') one(id: number) {
    return { id }
  }
}

process.on('uncaughtException', ({ message }: Error) => console.log(`uncaught: ${message}`))
subscribe('sequitur.request.start', () => {
  throw new Error('subscriber failed')
})
const app = createApp({ controllers: [Things], logger: false })
const { url } = await app.listen(0)
const response = await fetch(`${url}/things/7`)
console.log(`${response.status} ${await response.text()}`)
await app.close()
