import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { newLifespan } from 'sequitur'
import { migrate } from 'sequitur/migrations'
import { environment, root } from '../../support/processes.js'
import { type MigratedDatabase, migrationFolder } from '../migration-folder.js'
import { FILES } from './plan.js'
import { snapshot } from './snapshot.js'
import { MOMENTS, type Stop, type StoppingProxy, stoppingProxy } from './stopping-proxy.js'

/*
 * Migrations are run by processes that are killed, or whose connections are cut, at any of their statements, until one comes to the end. The database must be the
 * same then as after one run that nothing has stopped.
 */

export interface Crashes {
  readonly database: MigratedDatabase
  /** How many processes are killed, or cut, at least. */
  readonly kills: number
  /** Chooses a statement, of so many, from 1. Default: any. */
  readonly choose?: (most: number) => number
  readonly log?: (line: string) => void
}

export interface Outcome {
  readonly kills: number
  readonly cuts: number
  /** Runs that came to their end, each of a new database. */
  readonly finished: number
}

const program = fileURLToPath(new URL('up.js', import.meta.url))
const WHEN = ['before', 'during', 'after'] as const
const anyOf = (most: number) => 1 + randomInt(most)

/** @throws AssertionError if a database is another one than it should be. */
export async function crash(t: Pick<TestContext, 'after'>, crashes: Crashes): Promise<Outcome> {
  const { database, kills, log } = crashes
  const directory = migrationFolder(t, FILES[database.kind]).path
  const wanted = await wantedOf(database, directory)
  const total = { kills: 0, cuts: 0, finished: 0 }
  while (total.kills + total.cuts < kills) {
    const url = await database.url()
    const stopped = await untilFinished(t, url, directory, crashes)
    total.kills += stopped.kills
    total.cuts += stopped.cuts
    total.finished++
    assert.deepEqual(await snapshot(url), wanted)
    log?.(`${total.kills} kills, ${total.cuts} cuts, ${total.finished} databases`)
  }
  return total
}

async function wantedOf(database: MigratedDatabase, directory: string): Promise<readonly string[]> {
  const url = await database.url()
  await migrate(newLifespan(url), { directory })
  return snapshot(url)
}

type Stopped = Pick<Outcome, 'kills' | 'cuts'>

/** Runs processes on a database until one of them is not stopped. */
function untilFinished(
  t: Pick<TestContext, 'after'>,
  url: string,
  directory: string,
  crashes: Crashes,
): Promise<Stopped> {
  return crashes.database.kind === 'sqlite'
    ? untilFinishedOnFile(url, directory, crashes)
    : untilFinishedOnServer(t, url, directory, crashes)
}

/** About as many statements as all of the migrations have; a process that is to be killed later comes to its end. */
const STATEMENTS = { sqlite: 125, postgres: 120, mariadb: 180 } as const

async function untilFinishedOnFile(url: string, directory: string, { choose = anyOf }: Crashes): Promise<Stopped> {
  for (let kills = 0; ; kills++) {
    const kill_when = WHEN[randomInt(WHEN.length)] ?? 'before'
    const { ended } = start(url, directory, { kill_at: String(choose(STATEMENTS.sqlite)), kill_when })
    if (await ended) return { kills, cuts: 0 }
  }
}

async function untilFinishedOnServer(
  t: Pick<TestContext, 'after'>,
  url: string,
  directory: string,
  { database, choose = anyOf }: Crashes,
): Promise<Stopped> {
  const ends: (() => unknown)[] = []
  t.after(() => ends.map((end) => end()))
  const proxy = await stoppingProxy({ after: (end: () => unknown) => void ends.push(end) }, url)
  const stopped = { kills: 0, cuts: 0 }
  for (;;) {
    const way = randomInt(3) === 0 ? 'cuts' : 'kills'
    if (await isFinished(proxy, directory, choose(STATEMENTS[database.kind]), way === 'kills')) break
    stopped[way]++
  }
  for (const end of ends.splice(0)) end()
  return stopped
}

async function isFinished(proxy: StoppingProxy, directory: string, message: number, kills: boolean): Promise<boolean> {
  let child: ChildProcess | undefined
  const moment = MOMENTS[randomInt(MOMENTS.length)] ?? 'sent'
  proxy.next({ message, moment, stop: kills ? () => void child?.kill('SIGKILL') : undefined })
  const started = start(proxy.url, directory, {})
  child = started.child
  const isWhole = await started.ended
  assert.ok(isWhole || proxy.hasStopped, `A process has failed by itself:\n${started.output()}`)
  return isWhole
}

/** Starts a process. `ended` resolves to whether it came to its end. */
function start(url: string, directory: string, variables: Readonly<Record<string, string>>) {
  const env = environment({ toolkit_url: url, ...variables })
  const child = spawn(process.execPath, [program, directory], { cwd: root, env })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)))
  const ended = once(child, 'close').then(([code, signal]) => {
    assert.ok(code === 0 || signal === 'SIGKILL' || variables['kill_at'] === undefined, output)
    return code === 0
  })
  return { child, ended, output: () => output }
}

/**
 * Cuts the connection of a run at a message, which the next run finishes, on a new database for each: at every message and moment, or at each so many of them.
 *
 * @returns how many runs were cut.
 */
export async function cutAtEach(
  t: Pick<TestContext, 'after'>,
  database: MigratedDatabase,
  every: number,
  log: (line: string) => void = () => {},
): Promise<number> {
  const directory = migrationFolder(t, FILES[database.kind]).path
  const wanted = await wantedOf(database, directory)
  for (let number = 0, cuts = 0; ; number += every) {
    const stop = stopOf(number)
    const url = await database.url()
    const { hasStopped, count } = await runCut(url, directory, stop)
    if (count < stop.message) return cuts
    // The messages that end a connection have no answer.
    if (hasStopped) cuts++
    await migrate(newLifespan(url), { directory })
    assert.deepEqual(await snapshot(url), wanted, `cut at message ${stop.message}: ${stop.moment}`)
    if (number % 30 < every) log(`${cuts} cuts, at message ${stop.message}`)
  }
}

/** The moments of all messages, one after the other, from 0. */
function stopOf(number: number): Stop {
  return { message: 1 + Math.floor(number / MOMENTS.length), moment: MOMENTS[number % MOMENTS.length] ?? 'sent' }
}

async function runCut(
  url: string,
  directory: string,
  stop: Stop,
): Promise<Pick<StoppingProxy, 'hasStopped' | 'count'>> {
  const ends: (() => unknown)[] = []
  const proxy = await stoppingProxy({ after: (end: () => unknown) => void ends.push(end) }, url)
  try {
    proxy.next(stop)
    await migrate(newLifespan(proxy.url), { directory }).catch(() => {}) // of the connection
    return { hasStopped: proxy.hasStopped, count: proxy.count }
  } finally {
    for (const end of ends) await end()
  }
}
