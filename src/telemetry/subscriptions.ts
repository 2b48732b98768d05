import type { EventChannel } from '../core/events/channels.js'

/** The subscriptions of one listener, which end together. */
export class Subscriptions {
  readonly #report: (error: unknown) => void
  readonly #ends: (() => void)[] = []

  /** @param report receives what a listener throws: Node would end the process. */
  constructor(report: (error: unknown) => void) {
    this.#report = report
  }

  on<Message>(channel: EventChannel<Message>, listener: (message: Message) => void): void {
    const guarded = (message: Message) => {
      try {
        listener(message)
      } catch (error) {
        this.#report(error)
      }
    }
    channel.subscribe(guarded)
    this.#ends.push(() => channel.unsubscribe(guarded))
  }

  end(): void {
    for (const end of this.#ends.splice(0)) end()
  }
}
