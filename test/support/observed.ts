import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { TestContext } from 'node:test'
import type { EventMessages } from 'sequitur/diagnostics'
import { until } from './waiting.js'

/*
 * Subscribers to the events of this package.
 */

/** Collects the messages of a channel until the end of the test. */
export function observed<Name extends keyof EventMessages>(t: TestContext, name: Name): EventMessages[Name][] {
  const messages: EventMessages[Name][] = []
  const add = (message: unknown) => void messages.push(message as EventMessages[Name]) // the channel's own
  subscribe(name, add)
  t.after(() => unsubscribe(name, add))
  return messages
}

/** The records of ended requests. A request ends behind its response: `next` waits for the end of one more. */
export function endedRequests(t: TestContext) {
  const records = observed(t, 'sequitur.request.end')
  let taken = 0
  return {
    records,
    async next() {
      await until('a request has ended', () => records.length > taken)
      const record = records[taken++]
      if (record) return record
      throw new Error('There is none.')
    },
  }
}
