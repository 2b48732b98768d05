// node dist/support/serve.js <peer> [kind and URL of its database]: the process of one peer. It ends with the process that forked it.
import type { Database, DatabaseKind, Peer } from './peer.js'

/** What the process reports to the one that forked it. */
export interface Ready {
  readonly title: string
  /** Missing where the peer does not run on the database. */
  readonly port?: number
}

process.on('disconnect', () => process.exit())
process.on('message', () => process.exit()) // Not a signal: the profiler writes its file only at an exit.

const [name, kind, url] = process.argv.slice(2)
const { default: peer } = (await import(`../${name}.js`)) as { readonly default: Peer }
// The process that forked this one passes a kind with its URL, or neither.
const database = kind && url ? ({ kind: kind as DatabaseKind, url } satisfies Database) : undefined
const isSupported = !database || peer.databases.includes(database.kind)
const ready: Ready = { title: peer.title, ...(isSupported && { port: await peer.start(database) }) }
process.send?.(ready)
