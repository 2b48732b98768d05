import { Controller, createApp, Get } from 'sequitur'

// Two apps in one process, and requests that last until they are told to end, or for ever.
@Controller()
class Program {
  @Get('/slow') async slow(ms: number) {
    console.log('running')
    await new Promise((resolve) => setTimeout(resolve, ms))
    return 'finished'
  }
}

const logger = { info: (line: string) => console.log(line), warn: console.log, error: console.log }
for (const _ of ['first', 'second']) {
  await createApp({ controllers: [Program], logger }).listen(0)
}
console.log('ready')
