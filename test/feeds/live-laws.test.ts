import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { Controller, Get, select, Session, sql, withSession } from 'sequitur'
import 'sequitur/feeds'
import { databaseApp, databases } from '../support/databases.js'
import { EventClient } from '../support/event-source.js'
import { Hero, Team } from '../support/hero.js'
import { until } from '../support/waiting.js'

@Controller()
class Lists {
  @Get('/heros', [Hero], { live: true })
  heros(session: Session) {
    return session.all(select(Hero, { order: ['id'] }))
  }

  @Get('/teams', [Team], { live: true })
  teams(session: Session) {
    return session.all(select(Team, { order: ['id'] }))
  }

  @Get('/joined', { live: true })
  joined(session: Session) {
    return session.execute(
      sql`SELECT count(*) AS heros, max(h.id) AS last, sum(h.age) AS ages FROM hero h JOIN team t ON t.id = h.team_id`,
    )
  }
}

let last = 0
const name = () => `n${++last}`

/** What a transaction may do. */
const changes: readonly ((session: Session) => Promise<unknown>)[] = [
  () => Hero.create({ name: name() }),
  () => Team.create({ name: name() }),
  async (session) => session.add(Hero.build({ name: name() })),
  (session) => session.execute(sql`UPDATE hero SET age = age + 1`),
  () => Hero.update({ age: randomInt(100) }, { where: {} }),
  async () => {
    const team = await Team.findOne({ order: [['id', 'DESC']] })
    if (team) await Hero.update({ teamId: team.id }, { where: { teamId: null } })
  },
  async () => (await Hero.findOne({ order: [['id', 'DESC']] }))?.destroy(),
  (session) =>
    session
      .nested(async () => {
        await Hero.create({ name: name() })
        throw new Error('of a savepoint')
      })
      .catch(() => {}),
  (session) => session.nested(() => Team.create({ name: name() })),
  async (session) => {
    await Hero.create({ name: name() })
    session.rollback()
  },
  async () => {
    await Team.create({ name: name() })
    throw new Error('of the handler')
  },
]

/** A client that reads its list when it is told to. */
class Reader {
  readonly events: EventClient
  readonly #read: () => Promise<string>
  list = ''
  #seen = 0
  #isReading = false

  constructor(url: string, read: () => Promise<string>) {
    this.events = new EventClient(url, { retry: 5, headers: { accept: 'text/event-stream' } })
    this.#read = read
  }

  async readOnStale(): Promise<void> {
    const { length } = this.events.received
    if (this.#isReading || this.#seen === length) return
    this.#seen = length
    this.#isReading = true
    try {
      this.list = await this.#read()
    } catch {
      this.#seen = 0 // as while all connections are taken: it reads again
    }
    this.#isReading = false
  }
}

for (const kind of databases)
  test(`at rest each client has the list as it is (${kind.name})`, async (t) => {
    const { url, fetch, database } = await databaseApp(t, kind, [Team, Hero], [Lists], { lifespan: { echo: false } })
    const read = async (path: string) => {
      const response = await fetch(path)
      assert.equal(response.status, 200)
      return response.text()
    }
    const paths = ['/heros', '/teams', '/joined']
    const readers = [...paths, ...paths].map((path) => [path, new Reader(url + path, () => read(path))] as const)
    const reading = setInterval(() => readers.forEach(([, reader]) => void reader.readOnStale()), 5)
    t.after(async () => {
      clearInterval(reading)
      await Promise.all(readers.map(([, { events }]) => events.close()))
    })
    const writer = async () => {
      for (let n = 0; n < 15; n++) {
        const works = Array.from({ length: 1 + randomInt(2) }, () => changes[randomInt(changes.length)])
        const run = async (session: Session) => {
          for (const work of works) await work?.(session)
        }
        await withSession(database, run).catch(() => {}) // also of deadlocks
        if (randomInt(2) === 0) await wait(randomInt(150))
        if (randomInt(3) === 0) readers[randomInt(readers.length)]?.[1].events.cut()
      }
    }
    await Promise.all([writer(), writer(), writer(), writer()])
    const truth = new Map(await Promise.all(paths.map(async (path) => [path, await read(path)] as const)))
    await until('each list is as it is', () => readers.every(([path, { list }]) => list === truth.get(path)), 10, 4_000)
    assert.ok(readers.every(([, { events }]) => events.statuses.every((status) => status === 200)))
  })
