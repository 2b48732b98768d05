import { Client } from 'pg'
import { type Cost, costOf, type Load } from './load.js'
import type { Line } from './results.js'

/** What a measurement has: a PostgreSQL server of its own. */
export interface Context {
  readonly url: string
  /** The process of the server; undefined without /proc. */
  readonly database: number | undefined
  /** Each figure is the least of so many: what else the machine does can only add to it. */
  readonly rounds: number
  /** Seconds of CPU before the first measurement of a server. */
  readonly warmUp: number
  /** Seconds of CPU of a measurement. */
  readonly seconds: number
  execute(...statements: readonly string[]): Promise<void>
}

/** A thing with which cost may grow. */
export interface Dimension {
  /** Of `--only`, and of the picture. */
  readonly name: string
  readonly title: string
  readonly x: string
  readonly xs: readonly number[]
  /** Which lines are flat or straight, which are not, and why. */
  readonly explanation: string
  measure(context: Context): Promise<readonly Line[]>
}

export const SERVER_CPU = 'CPU of the server, µs'
export const DATABASE_CPU = 'CPU of the database, µs'
export const START_CPU = 'CPU of the start, ms'
export const MEMORY = 'memory, MiB'

const CONNECTIONS = 16
/** The part of the warm-up that a server needs that has measured something else before. */
const WARM = 0.2

/** Measures a kind of request, and prints it. The first one of a server warms it up. */
export async function cost(
  { database, rounds, warmUp: whole, seconds }: Context,
  name: string,
  load: Pick<Load, 'server' | 'request'> & { readonly isFirst?: boolean } & Partial<Load>,
): Promise<Cost> {
  const costs: Cost[] = []
  for (let round = 0; round < rounds; round++) {
    const warmUp = round > 0 ? 0 : load.isFirst ? whole : WARM * whole
    costs.push(await costOf({ database, connections: CONNECTIONS, warmUp, seconds, ...load }))
  }
  const least = (key: keyof Cost) => Math.min(...costs.map((one) => one[key]))
  const result = { cpu: least('cpu'), database: least('database'), wait: least('wait') }
  console.log(
    `  ${name}: server ${result.cpu.toFixed(0)} µs, database ${result.database.toFixed(0)} µs, ${result.wait.toFixed(1)} ms`,
  )
  return result
}

/** Collects the values of lines, one for each x. */
export class Lines {
  readonly #lines = new Map<string, { readonly name: string; readonly unit: string; readonly values: number[] }>()

  add(unit: string, name: string, value: number): void {
    const key = `${unit}: ${name}`
    const line = this.#lines.get(key) ?? { name, unit, values: [] }
    this.#lines.set(key, line)
    line.values.push(Number(value.toPrecision(3)))
  }

  /** The CPU of the server and of the database. */
  addCost(name: string, { cpu, database }: Cost): void {
    this.add(SERVER_CPU, name, cpu)
    this.add(DATABASE_CPU, name, database)
  }

  all(): readonly Line[] {
    return [...this.#lines.values()]
  }
}

export async function executeOn(url: string, statements: readonly string[]): Promise<void> {
  await connected(url, async (client) => {
    for (const statement of statements) await client.query(statement)
  })
}

export function rowsOf<Row extends object>(url: string, statement: string): Promise<Row[]> {
  return connected(url, async (client) => (await client.query<Row>(statement)).rows)
}

async function connected<T>(url: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return await use(client)
  } finally {
    await client.end()
  }
}
