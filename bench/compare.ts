// Compares Sequitur with other frameworks: see bench/README.md.
//   npm run bench -- --peers raw,sequitur --works list,get --rounds 5 --seconds 4
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, constants, cpus, loadavg, totalmem } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { DatabaseKind } from './peers/support/peer.js'
import { type BenchDatabase, openDatabase } from './compare/databases.js'
import { type Options, readOptions } from './compare/options.js'
import { peerNames, prepare, root } from './compare/prepare.js'
import { hasProc } from './compare/process-facts.js'
import { endProcesses, type Server, startClient, startServer } from './compare/processes.js'
import {
  compare,
  nameOf,
  REFERENCE,
  type Results,
  type Sample,
  tableOf,
  type Task,
  whyNotPublished,
} from './compare/results.js'
import { verify } from './compare/verify.js'
import { works } from './compare/works.js'

const options = readOptions(peerNames())
const databases = new Map<DatabaseKind, BenchDatabase>()
const interrupted = new AbortController()
const [loadBefore = Number.NaN] = loadavg()

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    interrupted.abort()
    void end().finally(() => process.exit(128 + constants.signals[signal]))
  })
}

try {
  await run(options)
} finally {
  await end()
}

async function run(options: Options): Promise<void> {
  prepare()
  warn(options)
  for (const kind of options.databases) databases.set(kind, await openDatabase[kind]())
  const conditions = conditionsOf(options)
  const tasks = tasksOf(options)
  const { titles, entries, failures } = await verifyAll(tasks, options.peers)
  const samples: Sample[] = []
  for (const { round, task, peer } of plan(tasks, entries, options.rounds)) {
    try {
      const measured = await measure(peer, task, options)
      samples.push({ peer, round, ...task, ...measured })
      console.log(`round ${round}, ${nameOf(task)}, ${peer}: ${measured.requestsPerSecond.toFixed(0)} req/s`)
    } catch (error) {
      if (interrupted.signal.aborted) return
      failures.push(`${peer}, ${nameOf(task)}, round ${round}\n  ${String(error)}`)
      console.error(failures.at(-1))
    }
  }
  report({ conditions, titles, samples, failures }, options)
}

/** A peer that has proved to do a work. */
interface Entry {
  readonly task: Task
  readonly peer: string
}

/** The measurements in their order: all peers once, before one is measured again. */
function* plan(tasks: readonly Task[], entries: readonly Entry[], rounds: number) {
  for (let round = 1; round <= rounds; round++)
    for (const task of tasks) {
      const peers = entries.filter((entry) => entry.task === task).map(({ peer }) => peer)
      for (const peer of rotated(peers, round)) {
        if (interrupted.signal.aborted) return
        yield { round, task, peer }
      }
    }
}

/** Each work once on each database; those without a database once. */
function tasksOf({ works: chosen, databases: kinds }: Options): Task[] {
  return chosen.flatMap((work): Task[] =>
    works[work].needsDatabase ? kinds.map((database) => ({ work, database })) : [{ work, database: undefined }],
  )
}

/** Checks all responses of all programs. What is wrong, or does not run on a database, is not measured. */
async function verifyAll(tasks: readonly Task[], peers: readonly string[]) {
  const titles: Record<string, string> = {}
  const entries: Entry[] = []
  const failures: string[] = []
  for (const peer of peers)
    for (const kind of new Set(tasks.map(({ database }) => database))) {
      // The insert comes last: all others expect the rows as they were.
      const ofDatabase = tasks.filter(({ database }) => database === kind)
      const inOrder = ofDatabase.toSorted((a, b) => Number(a.work === 'insert') - Number(b.work === 'insert'))
      try {
        await withServer(peer, kind, [], async ({ title, port }) => {
          titles[peer] = title
          for (const task of inOrder) {
            try {
              await verify(port, task.work)
              entries.push({ task, peer })
            } catch (error) {
              failures.push(`${peer}, ${nameOf(task)}\n  ${String(error)}`)
            }
          }
        })
      } catch (error) {
        failures.push(`${peer}, ${kind ?? 'without a database'}\n  ${String(error)}`)
      }
    }
  for (const failure of failures) console.error(failure)
  console.log(`Programs and works whose responses are as expected: ${entries.length}. Others: ${failures.length}.`)
  return { titles, entries, failures }
}

/** One measurement, with a new server and a new client. */
async function measure(peer: string, task: Task, { profile, connections, warmUp, seconds }: Options) {
  const folder = join(root, 'bench/results/profiles')
  const name = `${peer}-${task.work}${task.database ? `-${task.database}` : ''}.cpuprofile`
  const flags = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${folder}`, `--cpu-prof-name=${name}`]
  const measured = await withServer(peer, task.database, flags, async ({ port, pid }) => {
    const client = startClient()
    try {
      const databasePid = task.database && databases.get(task.database)?.pid
      return await client.measure({ port, pid, databasePid, work: task.work, connections, warmUp, seconds })
    } finally {
      await client.stop()
    }
  })
  if (!measured) throw new Error(`${peer} has been changed meanwhile: it does not run on ${task.database}.`)
  return measured
}

/** Runs a program on a new database; undefined if it does not run on it. */
async function withServer<T>(
  peer: string,
  kind: DatabaseKind | undefined,
  flags: readonly string[],
  use: (server: Server) => Promise<T>,
): Promise<T | undefined> {
  const database = kind && databases.get(kind)
  await database?.reset()
  const server = await startServer(peer, database, flags)
  if (!server) return undefined
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

/** So that no program is always the first, or always after the same other. */
function rotated(names: readonly string[], round: number): readonly string[] {
  const start = round % Math.max(names.length, 1)
  return [...names.slice(start), ...names.slice(0, start)]
}

function report(results: Results, { profile, json }: Options): void {
  if (results.failures.length > 0) {
    console.error(`\nFailures:\n${results.failures.join('\n')}`)
    process.exitCode = 1
  }
  if (profile !== undefined) return console.log('\nThe profiles are in bench/results/profiles.')
  for (const comparison of compare(results)) console.log(tableOf(comparison))
  const busiest = Math.max(...results.samples.map(({ client }) => client))
  if (busiest > 0.9)
    console.warn(`\nThe client used ${Math.round(busiest * 100)} % of a core: where it did, req/s shows its limit.`)
  const reason = whyNotPublished(results)
  if (reason !== undefined) console.warn(`\nNot to be published: ${reason}`)
  mkdirSync(dirname(resolve(json)), { recursive: true })
  writeFileSync(json, `${JSON.stringify(results, undefined, 1)}\n`)
  console.log(`\nAll measurements: ${json}`)
}

/** What makes the numbers of this machine worth less. */
function warn({ peers, rounds, seconds }: Options): void {
  if (loadBefore > 0.5)
    console.warn(`The load of this machine is ${loadBefore.toFixed(1)} before the start: compare on an idle one.`)
  if (availableParallelism() < 3)
    console.warn('Server, client and database share less than three cores: read CPU rather than req/s.')
  if (!hasProc) console.warn('There is no /proc: CPU and memory are not measured, and the warm-up is by the clock.')
  if (!peers.includes(REFERENCE)) console.warn(`Without the peer ${REFERENCE} there are no ratios.`)
  if (rounds < 3 || seconds < 3) console.warn('Less than 3 rounds of 3 seconds show that it runs, and no more.')
}

function conditionsOf({ rounds, seconds, warmUp, connections }: Options) {
  return {
    date: new Date().toISOString(),
    commit: git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ', changed'),
    node: process.version,
    processor: cpus()[0]?.model,
    cores: availableParallelism(),
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    loadBefore,
    databases: Object.fromEntries([...databases].map(([kind, { version }]) => [kind, version])),
    packages: versions(),
    rounds,
    seconds,
    warmUp,
    connections,
  }
}

function git(...parameters: string[]): string {
  try {
    return execFileSync('git', parameters, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return 'unknown'
  }
}

/** The versions of what is compared. */
function versions(): Record<string, string> {
  const drivers = ['mariadb', 'pg', 'sequelize', 'sqlite3']
  const manifest = readFileSync(join(root, 'bench/peers/package.json'), 'utf8')
  const { dependencies } = JSON.parse(manifest) as { readonly dependencies: Record<string, string> } // exact versions
  return { ...dependencies, ...Object.fromEntries(drivers.map((name) => [name, versionOf(name)])) }
}

function versionOf(name: string): string {
  const manifest = readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')
  return (JSON.parse(manifest) as { readonly version: string }).version // every package has one
}

async function end(): Promise<void> {
  await endProcesses()
  const open = [...databases.values()]
  databases.clear()
  await Promise.all(open.map((database) => database.stop()))
}
