import { subscribe } from 'node:diagnostics_channel'
import type { EventMessages } from 'sequitur/diagnostics'

/** Milliseconds in the database, by route and by shape of the statement. */
export const spent = new Map<string, number>()

// Typed: a misspelt name is a compile error, and the listener knows its message.
function on<Name extends keyof EventMessages>(name: Name, listener: (message: EventMessages[Name]) => void): void {
  subscribe(name, (message) => listener(message as EventMessages[Name]))
}

on('sequitur.statement', ({ route = 'outside of requests', shape, milliseconds }) => {
  const key = `${route}: ${shape}`
  spent.set(key, (spent.get(key) ?? 0) + milliseconds)
})
