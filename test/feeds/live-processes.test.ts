import assert from 'node:assert/strict'
import { setTimeout as wait } from 'node:timers/promises'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { Sequelize } from 'sequelize'
import { Controller, Get, newLifespan, Page, Paginate, select } from 'sequitur'
import 'sequitur/feeds'
import { testApp } from 'sequitur/testing'
import { databases, postgres, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { mariadbOptions } from '../support/mariadb.js'
import { environment, flags, root, serveIn } from '../support/processes.js'
import { until } from '../support/waiting.js'
import { heard, openEvents } from './open-events.js'

@Controller()
class Lists {
  @Get('/teams', Page.of(Team), { live: true })
  teams(paginate: Paginate<Team>) {
    return paginate(select(Team, { order: ['id'] }))
  }

  @Get('/heros', Page.of(Hero), { live: true })
  heros(paginate: Paginate<Hero>) {
    return paginate(select(Hero, { order: ['id'] }))
  }
}

async function appOf(t: TestContext, kind: TestDatabase) {
  const url = await kind.url()
  const database = newLifespan(url, { sync: true })
  const app = await testApp({ controllers: [Lists], models: [Team, Hero], lifespan: database })
  t.after(app.close)
  return { ...app, database, address: url }
}

/** Executes a statement as another program does, which then ends: on PostgreSQL its last report is of that moment. */
async function inOtherProgram(url: string, statement: string): Promise<void> {
  const sequelize = url.startsWith('sqlite')
    ? new Sequelize({ dialect: 'sqlite', storage: url.slice('sqlite+sqlite3:///'.length), logging: false })
    : url.startsWith('postgres')
      ? new Sequelize(url, { logging: false })
      : new Sequelize(mariadbOptions(url))
  await sequelize.query(statement)
  await sequelize.close()
}

async function otherProcess(address: string) {
  const program = fileURLToPath(new URL('./programs/teams.ts', import.meta.url))
  const args = ['--conditions=sequitur-source', ...flags, program]
  const { url, stop } = await serveIn(root, args, environment({ DATABASE_URL: address }))
  const create = (name: string, headers = {}) => fetch(`${url}/teams/${name}`, { method: 'POST', headers })
  return { url, stop, create }
}

for (const kind of databases.filter((one) => one !== sqliteMemory)) {
  test(`what another program writes makes a list stale, and no other one (${kind.name})`, async (t) => {
    const { url, address, database } = await appOf(t, kind)
    await heard(t, database)
    const teams = await openEvents(t, `${url}/teams`)
    const heros = await openEvents(t, `${url}/heros`)
    await Promise.all([teams.count(1), heros.count(1)])
    await inOtherProgram(address, "INSERT INTO team (name) VALUES ('a')")
    await teams.count(2)
    // On SQLite only the file is known to be another one.
    if (!address.startsWith('sqlite')) assert.equal(heros.events.length, 1)
    await wait(1_100)
    await inOtherProgram(address, "UPDATE team SET name = 'b'")
    await teams.count(3)
  })

  test(`what another process commits makes a list stale (${kind.name})`, async (t) => {
    const { url, address } = await appOf(t, kind)
    const client = await openEvents(t, `${url}/teams`)
    await client.count(1)
    const other = await otherProcess(address)
    const theirs = await openEvents(t, `${other.url}/teams`)
    await theirs.count(1)
    assert.equal((await other.create('a')).status, 204)
    await Promise.all([client.count(2), theirs.count(2)])
    theirs.close()
    await other.stop()
  })

  test(`the commit of a process that is killed before it can tell makes a list stale (${kind.name})`, async (t) => {
    const { url, address } = await appOf(t, kind)
    const client = await openEvents(t, `${url}/teams`)
    await client.count(1)
    const other = await otherProcess(address)
    await assert.rejects(other.create('a', { 'x-die': '1' }))
    assert.equal(await Team.count(), 1)
    await client.count(2)
  })
}

test('TRUNCATE by another program makes a list stale (PostgreSQL)', async (t) => {
  const { url, address } = await appOf(t, postgres)
  const client = await openEvents(t, `${url}/heros`)
  await client.count(1)
  await inOtherProgram(address, 'TRUNCATE hero')
  await client.count(2)
})

test('a commit is a notice with the tables that it has written (PostgreSQL)', async (t) => {
  const { address } = await appOf(t, postgres)
  const client = new Client({ connectionString: address })
  await client.connect()
  t.after(() => client.end())
  const payloads: string[] = []
  client.on('notification', ({ payload = '' }) => payloads.push(...payload.split(' ')))
  await client.query('LISTEN sequitur_live')
  // The tables that the start has created may still be a notice to come, before this one.
  await Team.create({ name: 'first' })
  await until('the first insert is a notice', () => payloads.includes('team'))
  payloads.length = 0
  await Team.create({ name: 'a' })
  await until('the insert is a notice', () => payloads.includes('team'))
  await Team.destroy({ where: {} })
  await until('the deletion is a notice', () => payloads.includes('team+'))
  assert.deepEqual(
    payloads.filter((one) => !/^(@|team)/.test(one)),
    [],
  )
})

test('a notice of another process makes the lists stale that it names (PostgreSQL)', async (t) => {
  const { url, address, database } = await appOf(t, postgres)
  await heard(t, database)
  const teams = await openEvents(t, `${url}/teams`)
  const heros = await openEvents(t, `${url}/heros`)
  await Promise.all([teams.count(1), heros.count(1)])
  await inOtherProgram(address, "SELECT pg_notify('sequitur_live', '@other medal team=7')")
  await teams.count(2)
  assert.equal(heros.events.length, 1)
  await inOtherProgram(address, "SELECT pg_notify('sequitur_live', '')") // anything
  await Promise.all([teams.count(3), heros.count(2)])
})
