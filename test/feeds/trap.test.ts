import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import { Base, Controller, Field, Post } from 'sequitur'
import { Feeds } from 'sequitur/feeds'
import { type CreationOptional, QueryTypes, type Sequelize } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { databaseApp, databases, mysqls, postgres, skipIfShared, type TestDatabase } from '../support/databases.js'
import { post } from '../support/processes.js'
import { gate, until } from '../support/waiting.js'
import { feedModels, follow, Numbered, NumberedController } from './numbered.js'

/*
 * The trap that decides the design: a sequence gives ids in the order of the inserts, and rows are visible in the order of the commits. The same handlers write rows for
 * other readers, beside the events: one of `id > last` loses what was committed late, and one below the oldest transaction waits for all that are open.
 */

const TOPIC = 'trap'
const servers = databases.filter((kind) => kind === postgres || mysqls.includes(kind))

/** A table as others have it, with an id of a sequence. */
@Table({ tableName: 'outbox', timestamps: false })
class Outbox extends Base<Outbox> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER, allowNull: false }) declare number: number
}

class NewEvent {
  @Field({ type: 'integer' }) number!: number
}

let held = gate()
/** The numbers of the handlers that have written, and wait for the gate before they return. */
const waiting = new Set<number>()

@Controller('/outbox')
class OutboxController {
  @Post('/', { status: 204 })
  async create({ number }: NewEvent, feeds: Feeds) {
    await this.#write(number, feeds)
  }

  @Post('/held', { status: 204 })
  async hold({ number }: NewEvent, feeds: Feeds) {
    await this.#write(number, feeds)
    waiting.add(number)
    await held.opened
  }

  /** Like an import, which has nothing to do with events. */
  @Post('/imports', { status: 204 })
  async import({ number }: NewEvent) {
    await Outbox.create({ number: -number })
    waiting.add(number)
    await held.opened
  }

  async #write(number: number, feeds: Feeds): Promise<void> {
    await Outbox.create({ number })
    feeds.publish(Numbered, { number, topic: TOPIC }, { topic: TOPIC })
  }
}

/** What a poller of `id > last` has seen. */
class Poller {
  readonly #sequelize: Sequelize
  readonly #where: string
  #last = 0
  readonly seen: number[] = []

  /** @param where what it reads besides the condition on the id. */
  constructor(sequelize: Sequelize, where = 'number > 0') {
    this.#sequelize = sequelize
    this.#where = where
  }

  async poll(): Promise<readonly number[]> {
    const rows = await this.#sequelize.query<{ readonly id: number; readonly number: number }>(
      `SELECT id, number FROM outbox WHERE id > ${this.#last} AND ${this.#where} ORDER BY id`,
      { type: QueryTypes.SELECT },
    )
    this.#last = rows.at(-1)?.id ?? this.#last
    this.seen.push(...rows.map(({ number }) => number))
    return this.seen
  }
}

async function start(t: TestContext, kind: TestDatabase) {
  held = gate()
  waiting.clear()
  const models = [Outbox, ...feedModels]
  const { url, database } = await databaseApp(t, kind, models, [OutboxController, NumberedController], {
    lifespan: { echo: false, poolSize: 12 },
  })
  const create = async (number: number, path = '') =>
    assert.equal((await post(`${url}/outbox${path}`, { number })).status, 204)
  /** Resolves when the handler waits for the gate; the promise in the result, when it has ended. */
  const hold = async (number: number, path = '/held') => {
    const done = create(number, path)
    await until(`handler ${number} waits`, () => waiting.has(number))
    return { done }
  }
  return { url, create, hold, sequelize: database.sequelize, client: await follow(t, url, [TOPIC]) }
}

for (const kind of servers) {
  test(`${kind.name}: a reader of 'id > last' loses what is committed late, and a client that follows does not`, async (t) => {
    const { create, hold, sequelize, client } = await start(t, kind)
    const poller = new Poller(sequelize)
    const first = await hold(1)
    await create(2)
    assert.deepEqual(await poller.poll(), [2])
    await client.has(2) // the open transaction does not delay it
    held.open()
    await first.done
    await client.has(1)
    assert.deepEqual(client.numbers(), [2, 1], 'the order of the commits')
    assert.deepEqual(await poller.poll(), [2], 'event 1 is lost')
  })

  test(`${kind.name}: of many handlers the reader loses events, and clients have them all, also those that are cut`, async (t) => {
    const { url, create, hold, sequelize, client } = await start(t, kind)
    const cut = await follow(t, url, [TOPIC])
    const poller = new Poller(sequelize)
    const all = Array.from({ length: 60 }, (_, index) => index + 1)
    for (const number of all) {
      if (number % 6 === 1) {
        held.open()
        held = gate()
        await hold(number)
        cut.cut()
      } else await create(number)
      await poller.poll()
    }
    held.open()
    for (const one of [client, cut]) {
      for (const number of all) await one.has(number)
      assert.deepEqual(
        one.numbers().toSorted((a, b) => a - b),
        all,
        'each once',
      )
    }
    assert.deepEqual(cut.numbers(), client.numbers())
    await poller.poll()
    assert.ok(poller.seen.length < all.length, 'the reader loses events on the same data')
    assert.ok(cut.connections > 5)
  })

  test(`${kind.name}: a transaction that stays open delays no event`, async (t) => {
    const { create, hold, client } = await start(t, kind)
    const long = await hold(100, '/imports')
    for (const number of [1, 2, 3]) await create(number)
    await client.has(3)
    assert.deepEqual(client.numbers(), [1, 2, 3])
    held.open()
    await long.done
  })
}

test(
  'PostgreSQL: a reader below the oldest transaction waits for one that has nothing to do with events',
  { skip: skipIfShared },
  async (t) => {
    const { create, hold, sequelize, client } = await start(t, postgres)
    const poller = new Poller(
      sequelize,
      `number > 0 AND (xmin::text)::bigint < (pg_snapshot_xmin(pg_current_snapshot())::text)::bigint`,
    )
    // Any open transaction of the server stops such a reader, also one of another database, whose end is waited for.
    const sees = (numbers: readonly number[]) =>
      until(`the reader has ${numbers.join()}`, async () => isDeepStrictEqual(await poller.poll(), numbers))
    await create(1)
    await sees([1])
    const long = await hold(100, '/imports')
    for (const number of [2, 3]) await create(number)
    await client.has(3)
    assert.deepEqual(await poller.poll(), [1], 'it is stopped')
    held.open()
    await long.done
    await sees([1, 2, 3])
    assert.deepEqual(client.numbers(), [1, 2, 3])
  },
)
