import { createApp, newLifespan } from 'sequitur'
import { FeedEvent, type Relay } from 'sequitur/feeds'

/*
 * Runs the relay of a program until it is killed: RELAY names its file.
 */

const module: Readonly<Record<string, Relay>> = await import(`../../../${process.env['RELAY'] ?? ''}`)
const app = createApp({
  controllers: [],
  models: [FeedEvent],
  relays: Object.values(module),
  work: {},
  lifespan: newLifespan(process.env['URL'] ?? ''),
})
await app.start()
console.log('started')
