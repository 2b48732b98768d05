import { jetstream } from '@nats-io/jetstream'
import { connect, type NatsConnection } from '@nats-io/transport-node'
import { forward } from 'sequitur/feeds'
import { HeroSaved } from './hero-saved.js'

const servers = process.env['NATS_URL'] ?? 'nats://127.0.0.1:4222'
let connection: NatsConnection | undefined

export const toNats = forward({ name: 'nats', events: [HeroSaved] }, async (events, signal) => {
  connection ??= await connect({ servers, maxReconnectAttempts: -1 })
  const stream = jetstream(connection)
  for (const { id, topic, position, data } of events) {
    signal.throwIfAborted()
    // Resolves when the stream has stored it, or has seen its id before.
    await stream.publish('example.heroes', JSON.stringify({ topic, position, data }), { msgID: id })
  }
})
