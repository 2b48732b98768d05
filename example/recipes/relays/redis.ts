import { Redis } from 'ioredis'
import { forward } from 'sequitur/feeds'
import { HeroSaved } from './hero-saved.js'

const redis = new Redis(process.env['REDIS_URL'] ?? 'redis://127.0.0.1:6379', {
  maxRetriesPerRequest: 1,
  lazyConnect: true,
})
redis.on('error', () => {}) // the relay reports what fails

export const toRedis = forward({ name: 'redis', events: [HeroSaved] }, async (events, signal) => {
  for (const { id, topic, position, data } of events) {
    signal.throwIfAborted()
    try {
      await redis.xadd(`example.heroes:${topic}`, `${position}-0`, 'id', id, 'data', JSON.stringify(data))
    } catch (error) {
      if (!isStored(error)) throw error
    }
  }
})

/** A stream takes only ids that are higher than those that it has: what was published before is refused. */
function isStored(error: unknown): boolean {
  return error instanceof Error && error.message.includes('equal or smaller')
}
