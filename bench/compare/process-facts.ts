import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'

/*
 * What the kernel knows of a process. Only Linux has /proc: elsewhere, CPU and memory are not measured.
 */

/** Whether CPU time and memory of another process can be read. */
export const hasProc = existsSync('/proc/self/stat')

const ticksPerSecond = hasProc ? Number(execFileSync('getconf', ['CLK_TCK'], { encoding: 'utf8' })) : Number.NaN

/** Seconds of CPU time of all threads of a process, in user and system mode; NaN without /proc. */
export function cpuSeconds(pid: number): number {
  if (!hasProc) return Number.NaN
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  // The name of the program, in parentheses, may have spaces. Fields 14 and 15 of the line are the twelfth and thirteenth after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
}

/** The most memory that a process has had, in MiB; NaN without /proc. */
export function peakMemory(pid: number): number {
  if (!hasProc) return Number.NaN
  return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024
}
