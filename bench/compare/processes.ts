import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Database } from '../peers/support/peer.js'
import type { Ready } from '../peers/support/serve.js'
import type { Failed, Job, Measured } from './client.js'

/*
 * The processes of the servers and of the client. They end when this one does, however that happens, because their channel closes.
 */

const running = new Set<ChildProcess>()

const STARTUP = 60_000
const PATIENCE = 10_000
/** The longest warm-up, and what may come on top of a measurement. */
const MOST_OF_A_JOB = 90_000

/** Only Node and what the programs are told: no settings of this shell. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(toolkit_\w+|database_url|node_options)$/i.test(name))
  return { ...Object.fromEntries(kept), NODE_ENV: 'production' }
}

export interface Server {
  readonly title: string
  readonly pid: number
  readonly port: number
  stop(): Promise<void>
}

/** Starts a peer in a process of its own; undefined, with a line that says why, if it does not run here or on the database. @param program the compiled bench/peers/support/serve.ts of a version. */
export async function startServer(
  peer: string,
  database: Database | undefined,
  options: readonly string[] = [],
  program = new URL('../peers/dist/support/serve.js', import.meta.url),
): Promise<Server | undefined> {
  const location = database ? [database.kind, database.url] : []
  const child = fork(fileURLToPath(program), [peer, ...location], {
    execArgv: [...options],
    env: environment(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const output = collect(child)
  try {
    const { title, port, pid = child.pid, missing } = await answerOf<Ready>(child, STARTUP)
    if (port === undefined || pid === undefined) {
      console.log(
        missing === undefined ? `${peer} does not run on ${database?.kind}` : `${peer} is left out: ${missing}`,
      )
      await end(child)
      return undefined
    }
    return { title, port, pid, stop: () => end(child) }
  } catch (error) {
    await end(child)
    throw new Error(`${peer} did not start.\n${output()}`, { cause: error })
  }
}

export interface Client {
  measure(job: Job): Promise<Measured>
  stop(): Promise<void>
}

export function startClient(): Client {
  const child = fork(fileURLToPath(new URL('client.ts', import.meta.url)), [], {
    execArgv: ['--import', 'tsx'],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const output = collect(child)
  return {
    async measure(job) {
      child.send(job)
      const result = await answerOf<Measured | Failed>(child, job.seconds * 1000 + MOST_OF_A_JOB).catch(
        (error: unknown) => {
          throw new Error(`The client failed.\n${output()}`, { cause: error })
        },
      )
      if ('error' in result) throw new Error(result.error)
      return result
    },
    stop: () => end(child),
  }
}

/** Ends whatever is still running. */
export async function endProcesses(): Promise<void> {
  await Promise.all([...running].map(end))
}

function collect(child: ChildProcess): () => string {
  let text = ''
  running.add(child)
  child.once('exit', () => running.delete(child))
  child.stderr?.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(-4000)))
  return () => text
}

/** The next message of a process. Fails if it ends, or takes too long. */
async function answerOf<T>(child: ChildProcess, patience: number): Promise<T> {
  const settled = new AbortController()
  const signal = AbortSignal.any([settled.signal, AbortSignal.timeout(patience)])
  try {
    const [first] = (await Promise.race([
      once(child, 'message', { signal }),
      once(child, 'exit', { signal }).then(([code, by]) => {
        throw new Error(`The process ended with ${by ?? `the code ${code}`}.`)
      }),
    ])) as [T] // both ends are in this folder
    return first
  } finally {
    settled.abort()
  }
}

/** Asks a process to exit, then ends it. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = once(child, 'exit')
  const force = setTimeout(() => child.kill('SIGKILL'), PATIENCE)
  if (child.connected) child.send('exit', () => {})
  await gone
  clearTimeout(force)
}
