import type { Measured } from './soak.js'
import type { Server } from './server.js'

const MIB = 2 ** 20

/** How much more there may be at the end than after the first round. */
const GROWTH = { heapMiB: 12, rssMiB: 96, descriptors: 12, timers: 4 }

interface Results {
  readonly rounds: readonly Measured[]
  readonly wrong: readonly string[]
  readonly faults: ReadonlyMap<string, number>
}

/** Prints what was measured. @returns whether everything is as it must be. */
export function printReport({ rounds, wrong, faults }: Results, { log, output }: Server, poolSize: number): boolean {
  console.table(rounds.map(lineOf))
  printCounts('Faults', faults)
  printCounts('Log', kindsOf(log))
  const problems = [...wrong, ...brokenBounds(rounds, poolSize), ...unexpected(log), ...(output === '' ? [] : [output])]
  console.log(problems.length === 0 ? '\nNo problems.' : `\n${problems.length} problems`)
  for (const problem of problems.slice(0, 50)) console.log(`- ${problem}`)
  return problems.length === 0
}

function printCounts(title: string, counts: ReadonlyMap<string, number>): void {
  console.log(`\n${title}:`)
  for (const [name, count] of counts) console.log(`${String(count).padStart(6)} ${name}`)
}

function lineOf({ usage, descriptors, connections, ...round }: Measured) {
  return {
    requests: round.requests,
    '503 or 504': round.unavailable,
    'unknown rows': round.unknown,
    'heap MiB': (usage.heapUsed / MIB).toFixed(1),
    'RSS MiB': (usage.rss / MIB).toFixed(0),
    descriptors,
    timers: usage.timers,
    connections: connections?.all,
    'open transactions': connections?.inTransaction,
    'temporary files': round.temporaryFiles,
  }
}

function brokenBounds(rounds: readonly Measured[], poolSize: number): string[] {
  const [first, last] = [rounds[0], rounds.at(-1)]
  if (first === undefined || last === undefined) return ['no round was completed']
  const grown = (what: string, before: number, after: number, most: number) =>
    after - before <= most
      ? []
      : [`${what} grew from ${before.toFixed(1)} to ${after.toFixed(1)}, by more than ${most}`]
  return [
    ...grown('the heap (MiB)', first.usage.heapUsed / MIB, last.usage.heapUsed / MIB, GROWTH.heapMiB),
    ...grown('the resident memory (MiB)', first.usage.rss / MIB, last.usage.rss / MIB, GROWTH.rssMiB),
    ...grown('the open descriptors', first.descriptors ?? 0, last.descriptors ?? 0, GROWTH.descriptors),
    ...grown('the timers', first.usage.timers, last.usage.timers, GROWTH.timers),
    ...rounds.flatMap((round, index) => leftIn(round, poolSize).map((what) => `after round ${index + 1} ${what}`)),
  ]
}

/** What clients that are gone have left behind. */
function leftIn({ connections, temporaryFiles }: Measured, poolSize: number): string[] {
  return [
    ...(temporaryFiles > 0 ? [`there are ${temporaryFiles} temporary files`] : []),
    ...(connections && connections.inTransaction > 0 ? [`${connections.inTransaction} transactions are open`] : []),
    ...(connections && connections.all > poolSize ? [`there are ${connections.all} connections, more than the pool's ${poolSize}`] : []), // prettier-ignore
  ]
}

/** Errors of requests are logged with them, and their clients have looked at the responses; so has the client of `/readyz`. What is left belongs to nobody. */
const OF_REQUEST = /^[A-Z]+ \/\S* \[|^Not ready/

function unexpected(log: Server['log']): string[] {
  return log
    .filter(({ level, text }) => level === 'error' && !OF_REQUEST.test(text))
    .map(({ text }) => `logged: ${text.slice(0, 600)}`)
}

/** How many entries the log has of each kind of error. */
function kindsOf(log: Server['log']): ReadonlyMap<string, number> {
  const kinds = new Map<string, number>()
  for (const { level, text } of log) {
    const kind =
      level === 'warn' ? 'warnings' : (/(?<=^[A-Z]+ \S+ \[[^\]]*\] ).{0,80}/.exec(text)?.[0] ?? 'errors of no request')
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  return kinds
}
