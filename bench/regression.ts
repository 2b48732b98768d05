// Compares this working tree with the last release: CPU and memory of requests, CPU of the start. Exits with 1 if a figure is worse, beyond what it varies.
//   npm run bench:regression -- [--baseline v0.1.0] [--rounds 5] [--seconds 4] [--works list,get,insert,hello] [--record]
// Without --baseline: the last tag; without one, the last version of bench/history.json. --record adds the version to that file, and draws bench/history.svg.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { checkOut, type Version, workingTree } from './compare/baseline.js'
import { openDatabase } from './compare/databases.js'
import { cpuSeconds, hasProc } from './compare/process-facts.js'
import { root } from './compare/prepare.js'
import { endProcesses, startClient, startServer } from './compare/processes.js'
import { type Figure, type HistoryEntry, isWorse, type Measurement } from './compare/regression.js'
import { spread, type Spread } from './compare/results.js'
import { WARM_UP, type WorkName, workNames, works } from './compare/works.js'
import type { DatabaseKind } from './peers/support/peer.js'
import { plot } from './plot.js'

const HISTORY = join(root, 'bench/history.json')
const { values: options } = parseArgs({
  options: {
    baseline: { type: 'string' },
    rounds: { type: 'string', default: '5' },
    seconds: { type: 'string', default: '4' },
    works: { type: 'string', default: 'list,get,insert,hello' },
    record: { type: 'boolean', default: false },
  },
})
const [rounds, seconds] = [Number(options.rounds), Number(options.seconds)]
const chosen = workNames.filter((name) => options.works.split(',').includes(name))
if (!hasProc) throw new Error('There is no /proc: CPU and memory can be measured on Linux only.')

const baseline = checkOut(options.baseline ?? lastRelease())
const current = workingTree()
const database = await openDatabase.postgres()
try {
  const samples = await measureAll()
  const figures = figuresOf(samples)
  for (const figure of figures) console.log(lineOf(figure))
  const worse = figures.filter(isWorse)
  console.log(
    worse.length === 0 ? '\nNo figure is worse.' : `\n${worse.length} of ${figures.length} figures are worse.`,
  )
  if (options.record) record(samples)
  process.exitCode = worse.length === 0 ? 0 : 1
} finally {
  await endProcesses()
  await database.stop()
}

function lastRelease(): string {
  const { status, stdout } = spawnSync('git', ['describe', '--tags', '--abbrev=0'], { cwd: root, encoding: 'utf8' })
  const last = history().at(-1)?.commit
  if (status === 0) return stdout.trim()
  if (last === undefined) throw new Error('There is no tag and no bench/history.json: name a version with --baseline.')
  return last
}

/** All in turn, so that what else the machine does meets all of them. */
async function measureAll(): Promise<readonly Measurement[]> {
  const samples: Measurement[] = []
  for (let round = 1; round <= rounds; round++)
    for (const work of chosen)
      for (const [peer, version] of inTurn(round)) {
        samples.push({ peer, round, ...(await measure(peer, version, work)) })
        console.log(`round ${round}, ${work}, ${peer}`)
      }
  return samples
}

function inTurn(round: number): (readonly [peer: 'before' | 'now' | 'raw', version: Version])[] {
  const turns = [['before', baseline] as const, ['now', current] as const, ['raw', current] as const]
  const first = round % turns.length
  return [...turns.slice(first), ...turns.slice(0, first)]
}

async function measure(peer: string, { program }: Version, work: WorkName) {
  const kind: DatabaseKind | undefined = works[work].needsDatabase ? 'postgres' : undefined
  if (kind) await database.reset()
  const server = await startServer(peer === 'raw' ? 'raw' : 'sequitur', kind && database, [], program)
  if (!server) throw new Error(`${peer} does not run on PostgreSQL.`)
  const start = cpuSeconds(server.pid) * 1_000
  const client = startClient()
  try {
    const measured = await client.measure({
      ...server,
      databasePid: kind && database.pid,
      work,
      connections: 32,
      warmUp: WARM_UP,
      seconds,
    })
    return { work, database: kind, start, ...measured }
  } finally {
    await client.stop()
    await server.stop()
  }
}

function figuresOf(samples: readonly Measurement[]): readonly Figure[] {
  const figure = (name: string, of: readonly Measurement[], read: (sample: Measurement) => number | null): Figure => {
    const all = (peer: string) => spread(of.filter((one) => one.peer === peer).map((one) => read(one) ?? Number.NaN))
    return { name, before: all('before'), now: all('now') }
  }
  const ofWork = (work: WorkName) => samples.filter((sample) => sample.work === work)
  return [
    ...chosen.map((work) => figure(`${work}: CPU s per 10,000 requests`, ofWork(work), ({ cpu }) => cpu)),
    ...chosen.map((work) => figure(`${work}: most memory, MiB`, ofWork(work), ({ memory }) => memory)),
    figure(
      'start: CPU, ms',
      samples.filter(({ database: kind }) => kind !== undefined),
      ({ start }) => start,
    ),
  ]
}

function lineOf(figure: Figure): string {
  const text = ({ median, least, most }: Spread) => `${median.toFixed(2)} [${least.toFixed(2)}-${most.toFixed(2)}]`
  return `${isWorse(figure) ? 'WORSE' : 'ok   '}  ${figure.name.padEnd(34)}  before ${text(figure.before)}  now ${text(figure.now)}`
}

function history(): readonly HistoryEntry[] {
  return existsSync(HISTORY) ? (JSON.parse(readFileSync(HISTORY, 'utf8')) as HistoryEntry[]) : [] // written by record()
}

function record(samples: readonly Measurement[]): void {
  const ratio = (of: readonly Measurement[], read: (sample: Measurement) => number | null) => {
    const median = (peer: string) =>
      spread(of.filter((one) => one.peer === peer).map((one) => read(one) ?? Number.NaN)).median
    return Number((median('now') / median('raw')).toFixed(3))
  }
  const ofWorks = (read: (sample: Measurement) => number | null) =>
    Object.fromEntries(
      chosen.map((work) => [
        work,
        ratio(
          samples.filter((sample) => sample.work === work),
          read,
        ),
      ]),
    )
  const entry: HistoryEntry = {
    date: new Date().toISOString().slice(0, 10),
    commit: current.commit,
    node: process.version,
    cpu: ofWorks(({ cpu }) => cpu),
    memory: ofWorks(({ memory }) => memory),
    start: ratio(
      samples.filter(({ database: kind }) => kind !== undefined),
      ({ start }) => start,
    ),
  }
  const all = [...history().filter(({ commit }) => commit !== entry.commit), entry]
  writeFileSync(HISTORY, `${JSON.stringify(all, undefined, 2)}\n`)
  const series = chosen.map((work) => ({
    name: work,
    points: all.flatMap(({ cpu }, index) => (cpu[work] === undefined ? [] : [[index + 1, cpu[work]] as const])),
  }))
  const title = 'CPU of a request on PostgreSQL, as a multiple of node:http with SQL by hand'
  writeFileSync(join(root, 'bench/history.svg'), plot(title, 'version, as in bench/history.json', 'multiple', series))
}
