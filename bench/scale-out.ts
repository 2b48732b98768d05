// What processes and replicas add: requests per second, and how many transactions the primary has left to execute.
//   npm run build && node --import tsx --import sequitur/register bench/scale-out.ts [rounds] [seconds]
// Nine of ten requests read. The replicas are servers of their own with the same rows, without replication: what is compared is where requests go, not how
// fast a standby follows. Client, processes and databases share the cores of one machine; with fewer than six, read the shares and not the requests per second.
import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { availableParallelism } from 'node:os'
import { Client } from 'pg'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  createApp,
  Get,
  Item,
  newLifespan,
  notFound,
  Put,
  Session,
  Transactional,
  withSession,
} from 'sequitur'
import { startPostgres } from '../test/support/postgres-server.js'

const ROWS = 10_000
const CONNECTIONS = 32
const READS_OF_TEN = 9

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
}

@Controller('/heroes')
class Heroes {
  @Transactional({ readOnly: true })
  @Get('/:id', Item.of(Hero))
  async get(id: number, session: Session) {
    return { data: (await session.get(Hero, id)) ?? notFound('There is no such hero.') }
  }
  @Put('/:id', Item.of(Hero)) async birthday(id: number, session: Session) {
    const hero = (await session.get(Hero, id)) ?? notFound('There is no such hero.')
    return { data: await hero.update({ age: hero.age + 1 }) }
  }
}

interface Case {
  readonly processes: number
  readonly replicas: number
}

interface Result {
  readonly requestsPerSecond: number
  /** Milliseconds of CPU of a request, in the processes of the app. */
  readonly cpu: number
  /** Of all transactions, in percent. */
  readonly onPrimary: number
}

async function serve(): Promise<void> {
  const [url = '', ...replicas] = String(process.env['BENCH_URLS']).split(' ')
  const lifespan = newLifespan(url, { models: [Hero], replicas })
  const app = createApp({ controllers: [Heroes], lifespan, logger: false })
  await app.listen(Number(process.env['BENCH_PORT']))
  process.on('message', () => process.send?.(process.cpuUsage()))
}

async function transactionsOf(url: string): Promise<number> {
  const client = new Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query('SELECT sum(xact_commit + xact_rollback)::int AS count FROM pg_stat_database')
  await client.end()
  return Number(rows[0].count)
}

async function cpuOf(workers: readonly Worker[]): Promise<number> {
  const used = await Promise.all(
    workers.map(async (worker) => {
      const answer = once(worker, 'message') as Promise<[NodeJS.CpuUsage]>
      worker.send('cpu')
      const [{ user, system }] = await answer
      return (user + system) / 1000
    }),
  )
  return used.reduce((sum, value) => sum + value, 0)
}

/** Sends requests on all connections for a while. @returns how many were answered. */
async function load(port: number, milliseconds: number): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const end = performance.now() + milliseconds
  let sent = 0
  let answered = 0
  const client = async () => {
    while (performance.now() < end) {
      const number = sent++
      const method = number % 10 < READS_OF_TEN ? 'GET' : 'PUT'
      const path = `/heroes/${1 + ((number * 7919) % ROWS)}`
      const outgoing = request({ host: '127.0.0.1', port, method, path, agent, headers: { 'content-length': 0 } }).end()
      const [response] = await once(outgoing, 'response')
      response.resume()
      await once(response, 'end')
      if (response.statusCode === 200) answered++
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, client))
  agent.destroy()
  return answered
}

async function measure(
  { processes, replicas }: Case,
  urls: readonly string[],
  port: number,
  seconds: number,
): Promise<Result> {
  const used = urls.slice(0, 1 + replicas)
  const fork = () => cluster.fork({ BENCH_URLS: used.join(' '), BENCH_PORT: String(port) })
  const workers = Array.from({ length: processes }, fork)
  await Promise.all(workers.map((worker) => once(worker, 'listening')))
  await load(port, 2_000)
  const before = { cpu: await cpuOf(workers), all: await Promise.all(used.map(transactionsOf)) }
  const answered = await load(port, seconds * 1000)
  const cpu = (await cpuOf(workers)) - before.cpu
  const ends = workers.map((worker) => once(worker, 'exit'))
  for (const worker of workers) worker.disconnect()
  await Promise.all(ends)
  // The servers count the transactions of a connection at the latest when it is closed.
  const after = await Promise.all(used.map(transactionsOf))
  const [primary = 0, ...others] = after.map((count, index) => count - (before.all[index] ?? 0))
  const all = others.reduce((sum, count) => sum + count, primary)
  return { requestsPerSecond: answered / seconds, cpu: cpu / answered, onPrimary: (100 * primary) / all }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}

async function compare(rounds: number, seconds: number): Promise<void> {
  const servers = [await startPostgres(), await startPostgres(), await startPostgres()]
  const urls = servers.map(({ url }) => url)
  for (const url of urls) {
    const heroes = Array.from({ length: ROWS }, (_, index) => ({ id: index + 1, age: 20 }))
    await withSession(newLifespan(url, { models: [Hero], sync: true }), () => Hero.bulkCreate(heroes))
  }
  const cases = [1, 2].flatMap((processes) => [0, 1, 2].map((replicas): Case => ({ processes, replicas })))
  const results = cases.map((): Result[] => [])
  for (let round = 0; round < rounds; round++)
    for (const [index, one] of cases.entries()) {
      const port = 20_000 + Math.floor(Math.random() * 10_000)
      results[index]?.push(await measure(one, urls, port, seconds))
    }
  console.log(`${availableParallelism()} cores, ${rounds} rounds of ${seconds} s`)
  for (const [index, { processes, replicas }] of cases.entries()) {
    const of = (key: keyof Result) => median((results[index] ?? []).map((result) => result[key]))
    console.log(
      `${processes} processes, ${replicas} replicas:`,
      `${of('requestsPerSecond').toFixed(0)} req/s, ${of('cpu').toFixed(3)} ms of CPU a request, ${of('onPrimary').toFixed(1)} % of the transactions on the primary`,
    )
  }
  for (const server of servers) await server.stop()
}

if (cluster.isWorker) await serve()
else await compare(Number(process.argv[2] ?? 3), Number(process.argv[3] ?? 3))
