import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { lower } from '../../src/register/lower.js'
import type { Ready } from './servers/serve.js'

/*
 * The processes that are measured. They run the built package and plain JavaScript, as in production, and end with this process.
 */

const sources = fileURLToPath(new URL('servers/', import.meta.url))
const compiled = fileURLToPath(new URL('../results/growth/', import.meta.url))
const MEBIBYTE_IN_KB = 1024

/** Compiles the programs of the folder `servers`. */
export function compileServers(): void {
  rmSync(compiled, { recursive: true, force: true })
  mkdirSync(compiled, { recursive: true })
  for (const name of readdirSync(sources))
    writeFileSync(
      compiled + javaScript(name),
      `// @ts-nocheck\n${lower(sources + name, readFileSync(sources + name, 'utf8')).code}`,
    )
}

function javaScript(name: string): string {
  return name.replace(/\.ts$/, '.js')
}

export interface Server extends Ready {
  readonly pid: number
  /** MiB that it has, after a collection of garbage. */
  memory(): Promise<number>
  /** Forgets the most memory that it has had. */
  resetPeak(): void
  stop(): Promise<void>
}

/** Runs a program of the folder `servers`, until `use` is done. */
export async function withServer<T>(
  name: string,
  parameters: readonly (string | number)[],
  use: (server: Server) => Promise<T>,
): Promise<T> {
  const server = await startServer(name, parameters)
  try {
    return await use(server)
  } finally {
    await server.stop()
  }
}

async function startServer(name: string, parameters: readonly (string | number)[]): Promise<Server> {
  const child = fork(`${compiled}${name}.js`, parameters.map(String), {
    execArgv: [],
    env: { ...environment(), NODE_ENV: 'production' },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ready = await answerOf<Ready>(child)
  const { pid = 0 } = child // it has sent a message, so it runs
  return {
    ...ready,
    pid,
    async memory() {
      child.send('collect')
      await answerOf(child)
      return statusOf(pid, 'VmRSS')
    },
    resetPeak: () => writeFileSync(`/proc/${pid}/clear_refs`, '5'),
    async stop() {
      if (child.exitCode !== null) return
      const gone = once(child, 'exit')
      child.disconnect()
      await gone
    },
  }
}

/** The most memory that a process has had, in MiB. */
export function peakOf({ pid }: Server): number {
  return statusOf(pid, 'VmHWM')
}

function statusOf(pid: number, name: string): number {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(line?.[1]) / MEBIBYTE_IN_KB
}

/** The variables of this process, without those that name a database. */
function environment(): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter((name) => !/^(toolkit_\w+|database_url|node_options)$/i.test(name))
  return Object.fromEntries(names.map((name) => [name, process.env[name]]))
}

async function answerOf<T>(child: ChildProcess): Promise<T> {
  const settled = new AbortController()
  try {
    const [answer] = (await Promise.race([
      once(child, 'message', settled),
      once(child, 'exit', settled).then(([code]) => {
        throw new Error(`A server ended with the code ${code}.`)
      }),
    ])) as [T] // both ends are in this folder
    return answer
  } finally {
    settled.abort()
  }
}
