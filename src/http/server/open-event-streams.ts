import type { Abort } from '../../core/abort.js'
import type { EventStream } from '../output/events.js'
import { shuttingDown } from './abort-reasons.js'

/** The streams of events that are being sent. They end with the app: their clients connect again. */
export class OpenEventStreams {
  readonly #aborts = new Map<EventStream, Abort>()
  #isEnded = false

  /** @param abort aborts the signal of the request. */
  add(stream: EventStream, abort: Abort): void {
    if (this.#isEnded) return end(stream, abort)
    this.#aborts.set(stream, abort)
    stream.once('close', () => this.#aborts.delete(stream))
  }

  /** Ends all streams, including those that are added later. */
  endAll(): void {
    this.#isEnded = true
    for (const [stream, abort] of this.#aborts) end(stream, abort)
  }
}

// The signal ends a source that waits for its next event.
function end(stream: EventStream, abort: Abort): void {
  stream.finish()
  abort.abort(shuttingDown())
}
