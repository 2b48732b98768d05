import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'

/*
 * What the kernel knows of a process. Only Linux has /proc: elsewhere, CPU and memory are not measured.
 */

/** Whether CPU time and memory of another process can be read. */
export const hasProc = existsSync('/proc/self/stat')

const ticksPerSecond = hasProc ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : Number.NaN

/** Seconds of CPU time of all threads of a process, in user and system mode; NaN without /proc. */
export function cpuSeconds(pid: number): number {
  return hasProc ? (statOf(pid)?.own ?? Number.NaN) / ticksPerSecond : Number.NaN
}

/**
 * Seconds of CPU time of a process, and of all that it has started: PostgreSQL has a process for each connection. NaN without /proc.
 *
 * A process that has ended counts with its parent, which has waited for it.
 */
export function treeCpuSeconds(pid: number): number {
  if (!hasProc) return Number.NaN
  // A process that ends while the others are read would count twice, or not at all: those that are there before and after have not.
  let [first, second, third] = [treeOf(pid), treeOf(pid), treeOf(pid)]
  while (keysOf(first) !== keysOf(second) || keysOf(second) !== keysOf(third))
    [first, second, third] = [second, third, treeOf(pid)]
  if (second.length === 0) return Number.NaN
  return second.reduce((sum, { own, ended }) => sum + own + ended, 0) / ticksPerSecond
}

/** Seconds of CPU time of the whole machine since it started, with what its host gave to others; NaN without /proc. */
export function machineCpuSeconds(): number {
  if (!hasProc) return Number.NaN
  const line = /^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? ''
  const ticks = line.split(' ').map(Number)
  // Fields 4 and 5 are idle; the last two are part of the first two: see proc_stat(5).
  return (
    ticks.slice(0, 8).reduce((sum, value, index) => (index === 3 || index === 4 ? sum : sum + value), 0) /
    ticksPerSecond
  )
}

interface Stat {
  readonly pid: number
  readonly parent: number
  /** Ticks of its own, of all threads. */
  readonly own: number
  /** Ticks of children that have ended, and of theirs. */
  readonly ended: number
  readonly started: string
}

function keysOf(tree: readonly Stat[]): string {
  return tree.map(({ pid, started }) => `${pid}:${started}`).join()
}

function treeOf(pid: number): readonly Stat[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const all = pids.flatMap((name) => statOf(Number(name)) ?? [])
  const withChildren = (one: Stat): readonly Stat[] => [
    one,
    ...all.filter(({ parent }) => parent === one.pid).flatMap(withChildren),
  ]
  return all.filter((one) => one.pid === pid).flatMap(withChildren)
}

/** The process that a file names, if it is one of this machine and runs this program. */
export function pidIn(file: string, program: RegExp): number | undefined {
  try {
    const pid = Number.parseInt(readFileSync(file, 'utf8'))
    return program.test(readFileSync(`/proc/${pid}/comm`, 'utf8')) ? pid : undefined
  } catch {
    return undefined
  }
}

/** Undefined for a process that has ended. */
function statOf(pid: number): Stat | undefined {
  let stat: string
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  } catch {
    return undefined
  }
  // The name of the program, in parentheses, may have spaces. Field 4 of the line is the second one after it, fields 14 to 17 are the twelfth to fifteenth.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [own, ended] = [Number(fields[11]) + Number(fields[12]), Number(fields[13]) + Number(fields[14])]
  return { pid, parent: Number(fields[1]), own, ended, started: fields[19] ?? '' }
}

/** The most memory that a process has had, in MiB; NaN without /proc. */
export function peakMemory(pid: number): number {
  if (!hasProc) return Number.NaN
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
