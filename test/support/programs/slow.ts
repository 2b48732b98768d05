import { Controller, createApp, Get } from 'sequitur'

// Two apps in one process, with a request that lasts as long as its parameter says. For tests of termination by signals.
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
