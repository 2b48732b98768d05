import { isDuplicate, openHeroes } from './support/drizzle-heroes.js'
import { startFastify } from './support/fastify-app.js'
import type { Peer } from './support/peer.js'

export default {
  title: 'Fastify + Drizzle',
  databases: ['postgres'],
  start: startFastify(openHeroes, isDuplicate),
} satisfies Peer
