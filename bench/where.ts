// Where the CPU of a request goes, beyond that of the hand-written program: microseconds by room, from CPU profiles of warm servers.
//   node --import tsx bench/where.ts [--peer sequitur] [--works list,get,insert] [--database postgres] [--seconds 8] [--functions 0]
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import type { Profiler } from 'node:inspector'
import { openDatabase } from './compare/databases.js'
import { prepare, root } from './compare/prepare.js'
import { endProcesses, startClient, startServer } from './compare/processes.js'
import { REFERENCE } from './compare/results.js'
import { WARM_UP, type WorkName, works } from './compare/works.js'
import type { DatabaseKind } from './peers/support/peer.js'
import { type Rooms, roomsOf } from './where/rooms.js'

const { values } = parseArgs({
  options: {
    peer: { type: 'string', default: 'sequitur' },
    works: { type: 'string', default: 'list,get,insert,hello-database' },
    database: { type: 'string', default: 'postgres' },
    seconds: { type: 'string', default: '8' },
    functions: { type: 'string', default: '0' },
  },
})
const CONNECTIONS = 32
/** Microseconds of a request below which a room is not listed. */
const LEAST = 0.5
const preload = fileURLToPath(new URL('where/profile-on-signal.js', import.meta.url))
const profile = join(root, 'bench/results/where.cpuprofile')

prepare()
mkdirSync(join(root, 'bench/results'), { recursive: true })
process.env['BENCH_PROFILE'] = profile
const database = await openDatabase[values.database as DatabaseKind]()
try {
  for (const work of values.works.split(',') as WorkName[]) {
    const reference = await measure(REFERENCE, work)
    print(work, reference, await measure(values.peer, work))
  }
} finally {
  await endProcesses()
  await database.stop()
}

interface Measured {
  readonly rooms: Rooms
  /** Microseconds of CPU, by the kernel. */
  readonly cpu: number
}

async function measure(peer: string, work: WorkName): Promise<Measured> {
  await database.reset()
  rmSync(profile, { force: true })
  const server = await startServer(peer, works[work].needsDatabase ? database : undefined, ['--import', preload])
  if (!server) throw new Error(`${peer} does not run on ${values.database}.`)
  const client = startClient()
  const ask = { port: server.port, pid: server.pid, work, connections: CONNECTIONS }
  try {
    await client.measure({ ...ask, warmUp: WARM_UP, seconds: 0.1 })
    process.kill(server.pid, 'SIGUSR2')
    const { requests, cpu } = await client.measure({ ...ask, warmUp: 0, seconds: Number(values.seconds) })
    process.kill(server.pid, 'SIGUSR2')
    while (!existsSync(profile)) await sleep(50)
    const parsed = JSON.parse(readFileSync(profile, 'utf8')) as Profiler.Profile // V8 wrote it
    return { rooms: roomsOf(parsed, requests), cpu: (cpu ?? Number.NaN) * 100 }
  } finally {
    await client.stop()
    await server.stop()
  }
}

function print(work: WorkName, reference: Measured, own: Measured): void {
  console.log(`\n${work}, Node ${process.version}: microseconds of a request`)
  console.log(line('all, by the kernel', reference.cpu, own.cpu))
  const names = new Set([...reference.rooms.keys(), ...own.rooms.keys()])
  const rows = [...names].map((name) => ({ name, by: sum(reference.rooms, name), ours: sum(own.rooms, name) }))
  for (const { name, by, ours } of rows.toSorted((a, b) => b.ours - b.by - (a.ours - a.by))) {
    if (Math.max(by, ours) < LEAST) continue
    console.log(line(name, by, ours))
    const functions = [...(own.rooms.get(name) ?? [])].toSorted(([, a], [, b]) => b - a)
    for (const [title, time] of functions.slice(0, Number(values.functions)))
      console.log(`      ${time.toFixed(1).padStart(6)}  ${title}`)
  }
}

function sum(rooms: Rooms, name: string): number {
  return [...(rooms.get(name)?.values() ?? [])].reduce((total, time) => total + time, 0)
}

function line(name: string, by: number, ours: number): string {
  const [left, right, more] = [by, ours, ours - by].map((value) => value.toFixed(1).padStart(8)) as [
    string,
    string,
    string,
  ]
  return `${name.padEnd(44)}${left}${right}${more.replace(/ (\d)/, '+$1')}`
}
