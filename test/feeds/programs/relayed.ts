import { createApp, Field, lifespan } from 'sequitur'
import { Event, FeedEvent, forward } from 'sequitur/feeds'

/*
 * An app with a relay that prints its events, or fails.
 */

@Event('note.printed')
export class NotePrinted {
  @Field({ type: 'integer' }) n!: number
}

const printer = forward({ name: 'printer', events: [NotePrinted] }, (events) => {
  if (process.env['FAILS']) throw new Error('no paper')
  for (const { data } of events) console.log(`prints ${data.n}`)
})

export const app = createApp({ controllers: [], models: [FeedEvent], relays: [printer], lifespan })
