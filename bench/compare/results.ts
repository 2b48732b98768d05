import type { DatabaseKind } from '../peers/support/peer.js'
import type { Measured } from './client.js'
import { databaseTitles, type WorkName, works } from './works.js'

/** The peer that the others are compared with. */
export const REFERENCE = 'raw'

/** A work on a database; the database is missing where no program opens one. */
export interface Task {
  readonly work: WorkName
  readonly database: DatabaseKind | undefined
}

/** One measurement. */
export interface Sample extends Task, Measured {
  readonly peer: string
  readonly round: number
}

/** The file of a run. */
export interface Results {
  /** Where and how it was measured. */
  readonly conditions: Readonly<Record<string, unknown>>
  readonly titles: Readonly<Record<string, string>>
  readonly samples: readonly Sample[]
  readonly failures: readonly string[]
}

/** The median of the rounds, and their range. */
export interface Spread {
  readonly median: number
  readonly least: number
  readonly most: number
}

/** A peer at a task. */
export interface Row {
  readonly peer: string
  readonly title: string
  readonly cpu: Spread
  /** That of the database server; NaN where it is not known. */
  readonly databaseCpu: Spread
  readonly requestsPerSecond: Spread
  /** CPU of each round, divided by that of the reference in the same round; missing without the reference. */
  readonly cpuRatio?: Spread
  readonly databaseCpuRatio?: Spread
  readonly requestsRatio?: Spread
  readonly p50: Spread
  readonly p99: Spread
  readonly memory: Spread
  readonly client: Spread
}

export interface Comparison {
  readonly task: Task
  readonly rows: readonly Row[]
}

/** `list on PostgreSQL` */
export function nameOf({ work, database }: Task): string {
  return database ? `${work} on ${databaseTitles[database]}` : work
}

/** The tables of a run, in the order in which they were measured. */
export function compare({ samples, titles }: Results): Comparison[] {
  const byTask = new Map<string, Sample[]>()
  for (const sample of samples) {
    const key = nameOf(sample)
    byTask.set(key, [...(byTask.get(key) ?? []), sample])
  }
  return [...byTask.values()].map((group) => {
    // A group has the sample that made it.
    const { work, database } = group[0] as Sample
    const peers = [...new Set(group.map(({ peer }) => peer))].toSorted(referenceFirst)
    return { task: { work, database }, rows: peers.map((peer) => rowOf(peer, titles[peer] ?? peer, group)) }
  })
}

function referenceFirst(left: string, right: string): number {
  return Number(right === REFERENCE) - Number(left === REFERENCE) || left.localeCompare(right)
}

function rowOf(peer: string, title: string, group: readonly Sample[]): Row {
  const own = group.filter((sample) => sample.peer === peer)
  const spreadOf = (read: (sample: Sample) => number | null) => spread(own.map((sample) => read(sample) ?? Number.NaN))
  const ratioOf = (read: (sample: Sample) => number | null) => {
    const pairs = own.flatMap((sample) => {
      const reference = group.find((other) => other.peer === REFERENCE && other.round === sample.round)
      return reference ? [[read(sample) ?? Number.NaN, read(reference) ?? Number.NaN] as const] : []
    })
    // A work without statements costs the database a tick of the kernel's clock, or none.
    if (pairs.some(([, reference]) => reference === 0)) return spread([])
    return spread(pairs.map(([value, reference]) => value / reference))
  }
  const hasReference = own.some(({ round }) => group.some((other) => other.peer === REFERENCE && other.round === round))
  return {
    peer,
    title,
    cpu: spreadOf(({ cpu }) => cpu),
    databaseCpu: spreadOf(({ databaseCpu }) => databaseCpu),
    requestsPerSecond: spreadOf(({ requestsPerSecond }) => requestsPerSecond),
    ...(hasReference && {
      cpuRatio: ratioOf(({ cpu }) => cpu),
      databaseCpuRatio: ratioOf(({ databaseCpu }) => databaseCpu),
      requestsRatio: ratioOf(({ requestsPerSecond }) => requestsPerSecond),
    }),
    p50: spreadOf(({ p50 }) => p50),
    p99: spreadOf(({ p99 }) => p99),
    memory: spreadOf(({ memory }) => memory),
    client: spreadOf(({ client }) => client),
  }
}

/** The share of a core that other programs may use: more is a busy machine, whose figures nobody should publish. */
const MOST_OF_OTHERS = 0.15

/** Why the figures of a run should not be published; undefined if they may be. */
export function whyNotPublished({ conditions, samples, failures }: Results): string | undefined {
  if (failures.length > 0) return `Measurements that failed: ${failures.length}.`
  const rounds = Number(conditions['rounds'])
  if (!(rounds >= 3)) return `Three rounds are the least, and these are ${rounds}.`
  const busy = samples.filter(({ others }) => !(typeof others === 'number' && others <= MOST_OF_OTHERS))
  if (busy.length === 0) return undefined
  const most = Math.max(...busy.map(({ others }) => others ?? Number.NaN))
  return (
    `In ${busy.length} of ${samples.length} measurements, other programs used more than ${MOST_OF_OTHERS} of a core ` +
    `(at most ${Number.isNaN(most) ? 'not known' : most.toFixed(2)}): measure on an idle machine.`
  )
}

export function spread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  const [low, high] = [sorted[Math.ceil(middle) - 1] ?? Number.NaN, sorted[Math.floor(middle)] ?? Number.NaN]
  return { median: (low + high) / 2, least: sorted[0] ?? Number.NaN, most: sorted.at(-1) ?? Number.NaN }
}

/** A comparison as lines for the console. */
export function tableOf({ task, rows }: Comparison): string {
  const head = [
    '',
    'CPU s/10k',
    'CPU to raw',
    'CPU of the database',
    'to raw',
    'req/s',
    'req/s to raw',
    'p50 ms',
    'p99 ms',
    'peak MiB',
  ]
  const lines = rows.map(
    ({ title, cpu, cpuRatio, databaseCpu, databaseCpuRatio, requestsPerSecond, requestsRatio, p50, p99, memory }) => [
      title,
      fixed(cpu.median, 2),
      ranged(cpuRatio),
      fixed(databaseCpu.median, 2),
      ranged(databaseCpuRatio),
      fixed(requestsPerSecond.median, 0),
      ranged(requestsRatio),
      fixed(p50.median, 1),
      fixed(p99.median, 1),
      fixed(memory.median, 0),
    ],
  )
  const widths = head.map((_, column) => Math.max(...[head, ...lines].map((line) => line[column]?.length ?? 0)))
  const print = (cells: readonly string[]) =>
    cells
      .map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('   ')
  return [`\n${nameOf(task)}: ${works[task.work].title}`, print(head), ...lines.map(print)].join('\n')
}

function ranged(ratio: Spread | undefined): string {
  return ratio && !Number.isNaN(ratio.median)
    ? `${fixed(ratio.median, 2)} [${fixed(ratio.least, 2)}-${fixed(ratio.most, 2)}]`
    : '-'
}

function fixed(value: number, digits: number): string {
  return Number.isNaN(value) ? '-' : value.toFixed(digits)
}
