import assert from 'node:assert/strict'
import { after, test, type TestContext } from 'node:test'
import { Base, Controller, Field, Post, Session, sql, Transactional } from 'sequitur'
import { Feeds } from 'sequitur/feeds'
import { Client } from 'pg'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { databaseApp, mysqls, type TestDatabase } from '../support/databases.js'
import { type PostgresServer, startPostgres } from '../support/postgres-server.js'
import { post } from '../support/processes.js'
import { random, runs } from '../support/fuzz.js'
import { gate, until } from '../support/waiting.js'
import { COMMIT_TIMES } from './commit-times.js'
import { assertOrder, readStored, type Times } from './ledger.js'
import { feedModels, follow, Numbered, NumberedController } from './numbered.js'

/*
 * Handlers that publish at each isolation level: positions are in the order of the commits, also where the snapshot of a transaction is old; and a conflict is run again,
 * or answered, and never an event of a transaction that was rolled back.
 */

const LEVELS = ['read committed', 'repeatable read', 'serializable'] as const
const TOPICS = ['one', 'two', 'three'] as const
const ROWS = 4

@Table({ tableName: 'entry', timestamps: false })
class Entry extends Base<Entry> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare number: number
}

@Table({ tableName: 'counter', timestamps: false })
class Counter extends Base<Counter> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare value: CreationOptional<number>
}

class NewEvent {
  @Field({ type: 'integer' }) number!: number
  @Field({ type: [String] }) topics!: string[]
  /** The row that it changes. */
  @Field({ type: 'integer', optional: true }) row?: number
  /** Whether it waits for the gate before it returns. */
  @Field({ type: 'boolean', default: false }) isHeld!: boolean
}

let held = gate()
const waiting = new Set<number>()

async function write({ number, topics, row, isHeld }: NewEvent, session: Session, feeds: Feeds): Promise<void> {
  await session.execute(sql`SELECT COUNT(*) FROM counter`) // its snapshot begins here
  await Entry.create({ number })
  for (const topic of topics) feeds.publish(Numbered, { number, topic }, { topic })
  if (row !== undefined) await session.execute(sql`UPDATE counter SET value = value + 1 WHERE id = ${row}`)
  if (!isHeld) return
  waiting.add(number)
  await held.opened
}

@Controller('/entries')
class EntryController {
  @Transactional({ isolation: 'read committed', retry: 5 })
  @Post('/read-committed', { status: 204 })
  async readCommitted(input: NewEvent, session: Session, feeds: Feeds) {
    await write(input, session, feeds)
  }

  @Transactional({ isolation: 'repeatable read', retry: 5 })
  @Post('/repeatable-read', { status: 204 })
  async repeatableRead(input: NewEvent, session: Session, feeds: Feeds) {
    await write(input, session, feeds)
  }

  @Transactional({ isolation: 'serializable', retry: 5 })
  @Post('/serializable', { status: 204 })
  async serializable(input: NewEvent, session: Session, feeds: Feeds) {
    await write(input, session, feeds)
  }

  /** The same without another run. */
  @Transactional({ isolation: 'serializable' })
  @Post('/once', { status: 204 })
  async once(input: NewEvent, session: Session, feeds: Feeds) {
    await write(input, session, feeds)
  }

  @Post('/counters', { status: 204 })
  async count() {
    await Counter.bulkCreate(Array.from({ length: ROWS }, (_, id) => ({ id })))
  }
}

async function start(t: TestContext, kind: TestDatabase) {
  held = gate()
  waiting.clear()
  const { url, database } = await databaseApp(
    t,
    kind,
    [Entry, Counter, ...feedModels],
    [EntryController, NumberedController],
    { lifespan: { echo: false, poolSize: 12 } },
  )
  assert.equal((await post(`${url}/entries/counters`, undefined)).status, 204)
  const times = new Map<number, Times>()
  const write = async (path: string, input: Omit<NewEvent, 'isHeld'> & { isHeld?: boolean }) => {
    const begun = performance.now()
    times.set(input.number, { begun, answered: Infinity })
    const { status } = await post(`${url}/entries/${path}`, input)
    if (status === 204) times.set(input.number, { begun, answered: performance.now() })
    return status
  }
  return { url, database, times, write }
}

/** A server that knows when each transaction was committed. */
let server: Promise<PostgresServer> | undefined
const postgres: TestDatabase = {
  name: 'PostgreSQL',
  async url() {
    server ??= startPostgres({ settings: COMMIT_TIMES })
    return newDatabase((await server).url)
  },
}
after(async () => (await server)?.stop())

async function newDatabase(url: string): Promise<string> {
  const name = `isolation_${databaseCount++}`
  const client = new Client({ connectionString: url })
  await client.connect()
  await client.query(`CREATE DATABASE ${name}`)
  await client.end()
  return Object.assign(new URL(url), { pathname: `/${name}` }).href
}
let databaseCount = 0

for (const kind of [postgres, ...mysqls])
  for (const level of [...LEVELS, 'once'] as const) {
    const path = level.replace(' ', '-')

    test(`${kind.name}, ${level}: a transaction that began first and is committed second has the later position`, async (t) => {
      const { url, write } = await start(t, kind)
      const client = await follow(t, url, ['one'])
      const first = write(path, { number: 1, topics: ['one'], isHeld: true })
      await until('the first one has its snapshot', () => waiting.has(1))
      assert.equal(await write(path, { number: 2, topics: ['one'] }), 204)
      assert.equal(await write(path, { number: 3, topics: ['one'] }), 204)
      await client.has(3)
      held.open()
      assert.equal(await first, 204)
      await client.has(1)
      assert.deepEqual(client.numbers(), [2, 3, 1])
    })

    test(`${kind.name}, ${level}: clients receive what was committed of handlers with conflicts, in the order of the commits`, async (t) => {
      const { url, database, times, write } = await start(t, kind)
      const client = await follow(t, url, TOPICS)
      const numbers = random(11)
      const inputs = Array.from({ length: runs(400) }, (_, number) => ({
        number,
        topics: TOPICS.filter((_topic, place) => place === number % 3 || numbers(3) === 0),
        ...(numbers(2) === 0 ? { row: numbers(ROWS) } : {}),
      }))
      const left = [...inputs]
      const statuses = new Map<number, number>()
      const writer = async () => {
        for (let input = left.pop(); input; input = left.pop()) statuses.set(input.number, await write(path, input))
      }
      await Promise.all(Array.from({ length: 8 }, writer))
      for (const status of statuses.values()) assert.ok([204, 409, 503].includes(status), String(status))
      const stored = await readStored(database)
      assertOrder(stored, times)
      const committed = inputs.filter(({ number }) => statuses.get(number) === 204)
      assert.ok(committed.length > 0)
      assert.deepEqual(
        stored.map(({ number, topic }) => `${number} ${topic}`).toSorted(),
        committed.flatMap(({ number, topics }) => topics.map((topic) => `${number} ${topic}`)).toSorted(),
      )
      for (const topic of TOPICS) {
        const last = stored.findLast((event) => event.topic === topic)
        await until('the last event', () => client.numbers(topic).at(-1) === last?.number)
        assert.deepEqual(
          client.numbers(topic),
          stored.filter((event) => event.topic === topic).map(({ number }) => number),
        )
      }
    })
  }
