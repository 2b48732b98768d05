import { setTimeout } from 'node:timers/promises'
import { Controller, Events, events, Field, Get, Header } from 'sequitur'

class Tick {
  @Field({ type: 'integer' }) number!: number
}

async function* ticks(after: number, signal: AbortSignal) {
  for (let number = after + 1; ; number++) {
    yield { id: String(number), data: { number } }
    await setTimeout(1000, undefined, { signal })
  }
}

@Controller('/ticks')
export class TickController {
  @Get('/', Events.of(Tick))
  list(signal: AbortSignal, @Header({ type: 'integer', default: 0 }) last_event_id: number) {
    return events(ticks(last_event_id, signal))
  }
}
