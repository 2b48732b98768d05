import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as pg from 'pg'
import { Sequelize } from 'sequelize'
import { newLifespan } from 'sequitur'
import sqlite3 from 'sqlite3'
import { checkDriver, type Driver } from '../../src/db/dialects/check-driver.js'
import { MARIADB, MYSQL2 } from '../../src/db/dialects/mysql/driver.js'
import { PG } from '../../src/db/dialects/postgres/driver.js'
import { SQLITE3 } from '../../src/db/dialects/sqlite/driver.js'
import { mysqls } from '../support/databases.js'
import { withoutMember } from '../support/without-member.js'

/** The message at the start when one member is missing. */
function missing({ name, versions }: Driver<never>, member: string): { name: string; message: string } {
  return {
    name: 'BootError',
    message:
      `This version of Sequitur works with ${name} ${versions}: ${member} is missing in the installed one. ` +
      `Install ${name}@${versions}, or a version of sequitur that supports the installed ${name}.`,
  }
}

function membersOf<Source>({ required }: Driver<Source>, owner: string): readonly string[] {
  return required.flatMap((one) => (one.owner === owner ? Object.keys(one.members) : []))
}

for (const [owner, prototype] of [
  ['Client', pg.Client.prototype],
  ['Connection', pg.Connection.prototype],
] as const)
  for (const member of membersOf(PG, owner))
    test(`a start with pg needs ${owner}.${member}`, () =>
      withoutMember(prototype, member, async () => {
        const start = newLifespan('postgres://nowhere.invalid/none').start()
        // Without client.connection, all members of the connection are missing as well.
        if (member === 'connection') await assert.rejects(start, { name: 'BootError', message: /Client\.connection, / })
        else await assert.rejects(start, missing(PG, `${owner}.${member}`))
      }))

test('a start with pg needs pg.Connection', () => {
  const library = { ...pg, Connection: undefined } as unknown as typeof pg
  assert.throws(() => checkDriver(PG, library), missing(PG, 'pg.Connection'))
})

test('an instance of the program with another pg needs none of them', async () => {
  const url = 'postgres://nowhere.invalid/none'
  await withoutMember(pg.Client.prototype, '_getActiveQuery', async () => {
    const database = newLifespan(new Sequelize(url, { dialectModule: pg, logging: false }), { startTimeout: 0 })
    await assert.rejects(database.start(), /Cannot reach the database/)
  })
})

const classes = ['Database', 'Statement'] as const

for (const name of classes)
  for (const member of membersOf(SQLITE3, `${name}.prototype`))
    test(`a start with sqlite3 needs ${name}.prototype.${member}`, () =>
      withoutMember(sqlite3[name].prototype, member, () =>
        assert.rejects(newLifespan('sqlite:///:memory:').start(), missing(SQLITE3, `${name}.prototype.${member}`)),
      ))

for (const member of membersOf(SQLITE3, 'sqlite3').filter((name) => !classes.some((other) => other === name)))
  test(`a start with sqlite3 needs sqlite3.${member}`, async () => {
    const dialectModule: object = Object.create(sqlite3, { [member]: { value: undefined } })
    const sequelize = new Sequelize({ dialect: 'sqlite', dialectModule, logging: false })
    await assert.rejects(newLifespan(sequelize).start(), missing(SQLITE3, `sqlite3.${member}`))
  })

/** A connection with these members, which answers every query. */
function fakeConnection(absent?: string): object {
  const query = (...args: unknown[]) => {
    const callback = args.find((one) => typeof one === 'function') as
      | ((error: null, rows: unknown[]) => void)
      | undefined
    if (callback) setImmediate(callback, null, [])
    return callback ? { setMaxListeners() {} } : Promise.resolve([])
  }
  const connection = {
    query,
    execute: query,
    destroy() {},
    end: (done?: () => void) => done?.(),
    removeListener() {},
    isValid: () => true,
  }
  const once = (event: string, listener: () => void) => void (event === 'connect' && setImmediate(listener))
  return { ...connection, on() {}, once, serverVersion: () => '11.4.0', ...(absent ? { [absent]: undefined } : {}) }
}

for (const [dialect, driver] of [
  ['mariadb', MARIADB],
  ['mysql', MYSQL2],
] as const) {
  const start = (absent?: string) => {
    const create = () => (dialect === 'mysql' ? fakeConnection(absent) : Promise.resolve(fakeConnection(absent)))
    const dialectModule = { createConnection: create }
    const options = { dialect, dialectModule, logging: false, databaseVersion: '11.4.0', keepDefaultTimezone: true }
    const database = newLifespan(new Sequelize(options))
    return database.start().then(() => database.stop())
  }

  test(`a start with ${driver.name} succeeds with all members`, () => start())

  for (const member of membersOf(driver, 'Connection'))
    test(`a start with ${driver.name} needs Connection.${member}`, () =>
      assert.rejects(start(member), missing(driver, `Connection.${member}`)))
}

test('a start with a version of mysql2 that is too old names the one that is needed', async (t) => {
  const start = (version: string) => {
    const folder = mkdtempSync(join(tmpdir(), 'sequitur-mysql2-'))
    t.after(() => rmSync(folder, { recursive: true }))
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'mysql2', version }))
    writeFileSync(join(folder, 'index.js'), 'exports.createConnection = () => { throw new Error("too far") }')
    const dialectModule = createRequire(import.meta.url)(join(folder, 'index.js')) as object
    return newLifespan(new Sequelize({ dialect: 'mysql', dialectModule, logging: false }), { startTimeout: 0 }).start()
  }
  for (const version of ['3.14.5', '3.9.0', '2.99.99', '3.9.0-canary.1'])
    await assert.rejects(start(version), {
      name: 'BootError',
      message: `mysql2 ${version} is installed, with which some values, such as dates, cannot be read. This version of Sequitur works with mysql2 >=3.15.0. Run: npm install mysql2@latest`,
    })
  for (const version of ['3.15.0', '3.24.5', '4.0.0']) await assert.rejects(start(version), /too far/)
})

for (const { name, url } of mysqls)
  test(`${name}: the installed driver has all members`, async () => {
    const database = newLifespan(await url())
    await database.start()
    await database.stop()
  })

test('the versions in messages are those of package.json', () => {
  const { dependencies, peerDependencies } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as Readonly<Record<'dependencies' | 'peerDependencies', Readonly<Record<string, string>>>>
  const declared = { ...dependencies, ...peerDependencies }
  for (const { name, versions } of [PG, SQLITE3, MYSQL2, MARIADB]) assert.equal(versions, declared[name])
})
