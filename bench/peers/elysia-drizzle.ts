import type { Peer } from './support/peer.js'
import { bun, foreign, missingBun, startProgram } from './support/program.js'

export default {
  title: 'Elysia + Drizzle, on Bun',
  databases: ['postgres'],
  missing: missingBun,
  start: (database) => startProgram(bun, [foreign('elysia-drizzle.ts'), ...(database ? [database.url] : [])]),
} satisfies Peer
