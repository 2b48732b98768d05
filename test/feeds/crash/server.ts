// An app that publishes events and sends them, which a test kills. It sends its address, and what its log says, to the process that has started it.
import { createApp, newLifespan } from 'sequitur'
import { EntryController, EventController, models } from './app.js'

const write = (line: string) => void process.send?.({ line })

const app = createApp({
  controllers: [EntryController, EventController],
  models: [...models],
  lifespan: newLifespan(undefined, { sync: process.argv.includes('--sync') }),
  logger: { info() {}, warn: write, error: write },
})
const { url } = await app.listen(0)
process.send?.({ url })
