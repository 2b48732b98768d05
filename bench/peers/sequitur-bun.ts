import type { Peer } from './support/peer.js'
import { bun, foreign, missingBun, startProgram } from './support/program.js'

export default {
  title: 'Sequitur, on Bun',
  databases: ['postgres', 'sqlite', 'mariadb'],
  missing: missingBun,
  start: (database) => startProgram(bun, [foreign('sequitur.ts'), ...(database ? [database.kind, database.url] : [])]),
} satisfies Peer
