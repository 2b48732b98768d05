// Run by Bun, with the kind and the URL of a database or neither: the compiled peer `sequitur`. Prints its port, and ends with the process that has started it.
import type { Database, DatabaseKind, Peer } from '../support/peer.js'

const { default: peer } = (await import(String(new URL('../dist/sequitur.js', import.meta.url)))) as { default: Peer }
const [kind, url] = process.argv.slice(2)
const database = kind && url ? ({ kind: kind as DatabaseKind, url } satisfies Database) : undefined
// The app logs its address, also on stdout.
console.log = console.info = () => {}
process.stdout.write(`${await peer.start(database)}\n`)
process.stdin.on('close', () => process.exit()).resume()
