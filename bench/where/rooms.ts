import type { Profiler, Runtime } from 'node:inspector'

/** Microseconds of a request by room, and by function within it. */
export type Rooms = ReadonlyMap<string, ReadonlyMap<string, number>>

/** Where the CPU of a profile went: the time of each function, by the room that its file belongs to. */
export function roomsOf({ nodes, samples = [], timeDeltas = [] }: Profiler.Profile, requests: number): Rooms {
  const microseconds = new Map<number, number>()
  for (const [index, id] of samples.entries())
    microseconds.set(id, (microseconds.get(id) ?? 0) + (timeDeltas[index] ?? 0))
  const rooms = new Map<string, Map<string, number>>()
  for (const { id, callFrame } of nodes) {
    const time = microseconds.get(id)
    if (time === undefined || callFrame.functionName === '(idle)') continue
    const room = roomOf(callFrame)
    const functions = rooms.get(room) ?? new Map<string, number>()
    const name = `${callFrame.functionName || 'anonymous'} ${fileOf(callFrame.url)}:${callFrame.lineNumber + 1}`
    functions.set(name, (functions.get(name) ?? 0) + time / requests)
    rooms.set(room, functions)
  }
  return rooms
}

/** The files of a room, the first that fits. */
const ROOMS: readonly (readonly [pattern: RegExp, room: string])[] = [
  [
    /^node:(internal\/)?async_(local_storage|hooks|context_frame)|^node:internal\/async_local_storage/,
    'node: AsyncLocalStorage, async hooks',
  ],
  [/^node:internal\/(process\/task_queues|process\/promises)/, 'node: ticks and promises'],
  [/^node:(internal\/)?timers/, 'node: timers, setImmediate'],
  [/^node:_http|^node:internal\/http/, 'node: http'],
  [
    /^node:(net|_?stream|internal\/(streams|stream_base_commons|net|js_stream))|^node:internal\/streams/,
    'node: sockets and streams',
  ],
  [/^node:(internal\/)?(buffer|string_decoder|util|encoding)/, 'node: buffers'],
  [/^node:(internal\/)?(url|querystring)/, 'node: URL'],
  [/^node:(events|internal\/(events|event_target|abort_controller))/, 'node: events'],
  [/^node:/, 'node: others'],
  [/node_modules\/(pg|pg-protocol|pg-pool|pg-types|mariadb|sqlite3|postgres-[a-z]+)\//, 'driver'],
  [/node_modules\/sequelize(-typescript)?\//, 'sequelize'],
  [/bench\/peers\//, 'program'],
]

function roomOf({ functionName, url }: Runtime.CallFrame): string {
  if (functionName === '(garbage collector)') return 'garbage collector'
  if (functionName === '(program)') return 'V8 and libuv: (program)'
  if (url === '') return 'V8: builtins, system calls'
  const found = ROOMS.find(([pattern]) => pattern.test(url))
  if (found) return found[1]
  const own = /\/dist\/([^/]+)\/?([^/]*)\//.exec(url)
  if (own) return `sequitur: ${own[2] ? `${own[1]}/${own[2]}` : own[1]}`
  return 'others'
}

function fileOf(url: string): string {
  return url.replace(/^.*\/(dist|node_modules)\//, '')
}
