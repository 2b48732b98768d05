import { Controller, createApp, Get } from 'sequitur'

// An app whose requests take a few milliseconds each. For tests of what happens while clients are busy.
@Controller()
class Program {
  @Get() async get() {
    await new Promise((resolve) => setTimeout(resolve, 3))
    return 'served'
  }
  @Get('/busy') busy() {
    const end = performance.now() + 2
    while (performance.now() < end);
    return 'served'
  }
}

const app = createApp({ controllers: [Program], logger: { info() {}, warn: console.log, error: console.log } })
const { url } = await app.listen(0)
console.log(`Listening on ${url}, documentation at ${url}/docs`)
