import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'

/*
 * Programs of the repository, run as processes, with the built package, which they import in a third of the time: scripts/test.js has built it.
 */

export const root = fileURLToPath(new URL('../../', import.meta.url))
/** The options of this program that compile the programs. Bun compiles them itself, and takes the source of the package, as nothing has built it there. */
export const flags: readonly string[] =
  process.versions['bun'] === undefined
    ? ['--import', 'tsx', '--import', 'sequitur/register']
    : ['--conditions=sequitur-source']

/** The environment of this process without database URLs, and with `variables`. */
export function environment(variables: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const names = Object.keys(process.env).filter((name) => !/^(toolkit_\w+|database_url|node_test_context)$/i.test(name))
  return { ...Object.fromEntries(names.map((name) => [name, process.env[name]])), ...variables }
}

/** Creates a folder that is removed when the test file is done. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'sequitur-example-'))
  after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export interface Finished {
  readonly code: number | null
  readonly output: string
}

/** Runs a program until it ends. */
export async function run(args: readonly string[], variables: Readonly<Record<string, string>>): Promise<Finished> {
  const child = spawn(process.execPath, [...flags, ...args], { cwd: root, env: environment(variables) })
  const output = collect(child)
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output: output() }
}

export interface Served {
  readonly url: string
  readonly output: () => string
  signal(signal: NodeJS.Signals): void
  /** Sends a signal, and returns the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Starts a server program, and waits until it prints its address. */
export async function serve(args: readonly string[], variables: Readonly<Record<string, string>>): Promise<Served> {
  return serveIn(root, [...flags, ...args], environment(variables))
}

const LISTENING = /Listening on (http:\/\/\S+), documentation at \S+\/docs/

/** Starts a server program in another folder. @param prints the line with its address. @param command what runs it, this program by default. */
export async function serveIn(
  cwd: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  prints = LISTENING,
  command = process.execPath,
): Promise<Served> {
  const child = spawn(command, args, { cwd, env })
  const output = collect(child)
  const closed = once(child, 'close') as Promise<[number | null]>
  const stop = async (signal: NodeJS.Signals = 'SIGTERM') => {
    if (child.exitCode === null) child.kill(signal)
    return (await closed)[0]
  }
  after(() => stop('SIGKILL'))
  return { url: await address(child, output, prints), output, signal: (signal) => void child.kill(signal), stop }
}

function collect(child: ChildProcess): () => string {
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (text += chunk.toString()))
  return () => text
}

function address(child: ChildProcess, output: () => string, prints: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const look = () => {
      // Of whole lines: the last one may be in two parts.
      const url = prints.exec(output().slice(0, output().lastIndexOf('\n') + 1))?.[1]
      if (url !== undefined) resolve(url)
    }
    child.stdout?.on('data', look)
    child.once('close', () => reject(new Error(`The program ended before it listened:\n${output()}`)))
  })
}

/** Posts JSON. */
export function post(url: string, json: unknown): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(json) })
}

/** The JSON of a response. */
// any: the assertions of the test check its type.
// oxlint-disable-next-line typescript/no-explicit-any
export async function jsonOf(answer: Response | Promise<Response>): Promise<any> {
  return (await answer).json()
}
