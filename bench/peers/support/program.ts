import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Listening } from './peer.js'

/*
 * Peers that are programs of another runtime: in a process of their own, whose CPU and memory are measured.
 */

/** The path of a program of `bench/peers/foreign`. */
export function foreign(name: string): string {
  return fileURLToPath(new URL(`../../foreign/${name}`, import.meta.url))
}

/** Starts a program that prints its port, and ends when its standard input does. */
export async function startProgram(command: string, parameters: readonly string[]): Promise<Listening> {
  const child: ChildProcess = spawn(command, [...parameters], { stdio: ['pipe', 'pipe', 'inherit'] })
  process.once('exit', () => child.kill('SIGKILL'))
  const [line] = (await Promise.race([
    once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data'), // it is a pipe
    once(child, 'exit').then(([code]) => {
      throw new Error(`${command} ended with the code ${code}.`)
    }),
  ])) as [Buffer]
  return { port: Number(line), pid: child.pid as number } // it has printed a line
}

/** Whether a command can be executed, and ends with 0. */
export function runs(command: string, parameters: readonly string[]): boolean {
  return spawnSync(command, [...parameters], { stdio: 'ignore' }).status === 0
}

/** The program of the package `bun`. */
export const bun = fileURLToPath(new URL('../../node_modules/.bin/bun', import.meta.url))

/** Why the peers on Bun do not run on this machine. */
export function missingBun(): string | undefined {
  return runs(bun, ['--version']) ? undefined : 'the package bun has no program for this machine'
}
