// An app without a database, whose handlers begin promises that fail before they are awaited.
import { setTimeout as wait } from 'node:timers/promises'
import { Controller, createApp, Get, notFound } from 'sequitur'

@Controller('/')
class Refusals {
  @Get('/thrown') async thrown() {
    const late = (async () => notFound('too early'))()
    await wait(50)
    return late
  }
  @Get('/signal') async signal(signal: AbortSignal) {
    const late = wait(60_000, 'late', { signal })
    await wait(300)
    return late
  }
  @Get('/fetched') async fetched(signal: AbortSignal) {
    const late = new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    await wait(300)
    return late
  }
  @Get('/alive') alive() {
    return 'yes'
  }
}

await createApp({ controllers: [Refusals], timeouts: { handler: 150 } }).listen(0)
