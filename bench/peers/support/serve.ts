// node dist/support/serve.js <peer> [kind and URL of its database]: the process of one peer. It ends with the process that forked it.
import type { Database, DatabaseKind, Peer } from './peer.js'

/** What the process reports to the one that forked it. */
export interface Ready {
  readonly title: string
  /** Missing where the peer does not run on the database. */
  readonly port?: number
  /** That of a peer in another process. */
  readonly pid?: number
  /** Why a peer does not run on this machine. */
  readonly missing?: string
}

process.on('disconnect', () => process.exit())
process.on('message', () => process.exit()) // Not a signal: the profiler writes its file only at an exit.

const [name, kind, url] = process.argv.slice(2)
const { default: peer } = (await import(`../${name}.js`)) as { readonly default: Peer }
// The process that forked this one passes a kind with its URL, or neither.
const database = kind && url ? ({ kind: kind as DatabaseKind, url } satisfies Database) : undefined
const missing = peer.missing?.()
const isSupported = missing === undefined && (!database || peer.databases.includes(database.kind))
const listening = isSupported ? await peer.start(database) : undefined
const ready: Ready = {
  title: peer.title,
  ...(missing !== undefined && { missing }),
  ...(typeof listening === 'number' ? { port: listening } : listening),
}
process.send?.(ready)
