import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { type CreationOptional, DatabaseError } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Field, newLifespan, Post, Session, sql } from 'sequitur'
import { rawSql } from '../../src/db/statements/statement.js'
import { databaseApp, databases, postgres } from '../support/databases.js'
import { said } from '../support/faults.js'
import { Hero, Team } from '../support/hero.js'
import { RAISE, SQLSTATES } from '../support/sqlstates.js'

const models = [Team, Hero]
const RAISE_CACHED_PLAN = `DO $$ BEGIN RAISE EXCEPTION 'cached plan must not change result type' USING ERRCODE = '0A000'; END $$`
const post = { method: 'POST' }

/** The table of docs/errors.md: the status of each code of a database. */
function documentedStatuses(column: 'PostgreSQL' | 'MySQL, MariaDB' | 'SQLite'): ReadonlyMap<string, string> {
  const lines = readFileSync(new URL('../../docs/errors.md', import.meta.url), 'utf8').split('\n')
  const header = lines.findIndex((line) => line.includes('| PostgreSQL |'))
  const cellsOf = (line = '') => line.split('|').map((cell) => cell.trim())
  const index = cellsOf(lines[header]).indexOf(column)
  const end = lines.findIndex((line, at) => at > header && line === '')
  const rows = lines.slice(header + 2, end).map(cellsOf)
  return new Map(
    rows.flatMap((cells) => {
      const [status = ''] = /^\d+( with `Retry-After`)?/.exec(cells.at(-2) ?? '') ?? []
      const codes = (cells[index] ?? '').split(', ').filter((code) => code !== '')
      return codes.map((code) => [code, status.replace(' with `Retry-After`', ', again in 1 s')] as const)
    }),
  )
}

test('PostgreSQL: every SQLSTATE has the status that docs/errors.md has for it, and the others are a 500', async (t) => {
  @Controller('/')
  class Raising {
    @Post('/:code') async raise(code: string, session: Session) {
      await session.execute(sql`SELECT raise_of_index(${code}, 'Key (name)=(Robin) already exists.')`)
    }
  }
  const { fetch, database } = await databaseApp(t, postgres, models, [Raising], { lifespan: { echo: false } })
  await database.sequelize.query(RAISE)
  const documented = documentedStatuses('PostgreSQL')
  assert.deepEqual(
    [...documented.keys()].filter((code) => !SQLSTATES.includes(code)),
    [],
  )
  const answers: string[] = []
  for (const code of SQLSTATES) answers.push(`${code} ${statusOf(await said(fetch(`/${code}`, post)))}`)
  assert.deepEqual(
    answers,
    SQLSTATES.map((code) => `${code} ${documented.get(code) ?? '500'}`),
  )
})

test('PostgreSQL: what it does not support is a 500, a table that was altered under a prepared statement a 503', async (t) => {
  @Controller('/')
  class Unsupported {
    @Post('/unsupported') unsupported(session: Session) {
      return session.execute(sql`SELECT count(*) FROM hero FOR UPDATE`)
    }
    @Post('/altered') altered(session: Session) {
      return session.execute(rawSql(RAISE_CACHED_PLAN))
    }
  }
  const { fetch, database } = await databaseApp(t, postgres, models, [Unsupported], { lifespan: { echo: false } })
  await database.sequelize.query(RAISE)
  assert.match(await said(fetch('/unsupported', post)), /^500/)
  assert.match(await said(fetch('/altered', post)), /^503.*The database has changed/)
})

for (const kind of databases.filter(({ name }) => name.startsWith('MariaDB'))) {
  test(`${kind.name}: every error number has the status that docs/errors.md has for it, and the others are a 500`, async (t) => {
    @Controller('/')
    class Raising {
      @Post('/:errno') async raise(errno: number, session: Session) {
        await session.execute(rawSql(`SIGNAL SQLSTATE '45000' SET MYSQL_ERRNO = ${errno}, MESSAGE_TEXT = 'an error'`))
      }
    }
    const { fetch } = await databaseApp(t, kind, models, [Raising], { lifespan: { echo: false } })
    const documented = documentedStatuses('MySQL, MariaDB')
    const others = [1054, 1064, 1146, 1142, 1305, 1365, 1644]
    for (const errno of [...documented.keys(), ...others.map(String)])
      assert.equal(statusOf(await said(fetch(`/${errno}`, post))), documented.get(errno) ?? '500', errno)
  })
}

test('SQLite: every result code has the status that docs/errors.md has for it, and the others have none', async () => {
  const { findErrorStatus } = newLifespan('sqlite:///:memory:')
  const documented = documentedStatuses('SQLite')
  // Source: sqlite.org, "Result and Error Codes".
  const codes = [
    ...'ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN'.split(' '),
    ...'PROTOCOL EMPTY SCHEMA TOOBIG MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'.split(' '),
    'CONSTRAINT: CHECK',
    'CONSTRAINT: NOT NULL',
    'CONSTRAINT: some trigger',
  ]
  for (const code of codes) {
    const [name = ''] = code.split(':')
    const error = Object.assign(new Error(`SQLITE_${code} failed`), { code: `SQLITE_${name}`, sql: '' })
    const { status, headers } = findErrorStatus(new DatabaseError(error)) ?? { status: undefined, headers: undefined }
    const again = headers?.['retry-after'] === undefined ? '' : ', again in 1 s'
    assert.equal(status && `${status}${again}`, documented.get(code), code)
  }
  const known = [...documented.keys()].filter((code) => !/UNIQUE|FOREIGN/.test(code))
  assert.deepEqual(
    known.filter((code) => !codes.includes(code)),
    [],
  )
})

function statusOf(answer: string): string {
  return answer.slice(0, answer.indexOf(':'))
}

class Named {
  @Field({ type: String, nullable: true }) name!: string | null
}

@Table({ tableName: 'versioned', timestamps: false, version: true })
class Versioned extends Base<Versioned> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

for (const kind of databases) {
  test(`${kind.name}: a violated constraint is told by its name or its field, and by the same status everywhere`, async (t) => {
    @Controller('/')
    class Constraints {
      @Post('/check') async check(session: Session) {
        await session.execute(sql`INSERT INTO adult (name, age) VALUES ('Robin', 7)`)
      }
      @Post('/null') async nothing({ name }: Named, session: Session) {
        await session.execute(sql`INSERT INTO adult (name, age) VALUES (${name}, 20)`)
      }
      @Post('/stale') async stale() {
        const { id } = await Versioned.create({ name: 'Robin' })
        const [first, second] = [await Versioned.findByPk(id), await Versioned.findByPk(id)]
        await first?.update({ name: 'Batman' })
        await second?.update({ name: 'Joker' })
      }
    }
    const app = await databaseApp(t, kind, [...models, Versioned], [Constraints])
    const unnamed = 'CHECK (name IS NULL OR length(name) > 1)'
    await app.database.sequelize.query(
      `CREATE TABLE adult (name VARCHAR(9) NOT NULL, age INTEGER, CONSTRAINT of_age CHECK (age > 17), ${unnamed})`,
    )
    assert.equal(await said(app.fetch('/check', post)), '422: The constraint of_age is violated.')
    const withoutName = await app.fetch('/null', { ...post, json: { name: null } })
    const { errors } = (await withoutName.json()) as { errors: unknown }
    assert.deepEqual([withoutName.status, errors], [422, [{ in: 'body', path: '/name', message: 'is required' }]])
    const shortName = app.fetch('/null', { ...post, json: { name: 'R' } })
    assert.match(await said(shortName), /^422: (?:A constraint|The constraint [\w.]+) is violated\.$/)
    assert.match(await said(app.fetch('/stale', post)), /^409: Another request has changed it/)
  })
}
