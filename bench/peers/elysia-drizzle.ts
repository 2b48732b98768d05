import { fileURLToPath } from 'node:url'
import type { Peer } from './support/peer.js'
import { foreign, runs, startProgram } from './support/program.js'

const bun = fileURLToPath(new URL('../node_modules/.bin/bun', import.meta.url))

export default {
  title: 'Elysia + Drizzle, on Bun',
  databases: ['postgres'],
  missing: () => (runs(bun, ['--version']) ? undefined : 'the package bun has no program for this machine'),
  start: (database) => startProgram(bun, [foreign('elysia-drizzle.ts'), ...(database ? [database.url] : [])]),
} satisfies Peer
