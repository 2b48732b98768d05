import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Get, Post, Session, sql } from 'sequitur'
import { type DatabaseApp, databaseApp, mysqls, postgres, sqliteFile } from '../support/databases.js'
import { until } from '../support/waiting.js'

/*
 * The keys that a database generates run out. Whoever operates the app knows it before, and the client is not told that it made a mistake.
 */

@Table({ tableName: 'small', timestamps: false })
class Small extends Base<Small> {
  @Column({ type: DataType.SMALLINT, primaryKey: true, autoIncrement: true, field: 'small id' })
  declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER }) declare n: CreationOptional<number | null>
}

@Table({ tableName: 'Large', timestamps: false })
class Large extends Base<Large> {
  @Column({ type: DataType.BIGINT, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
}

@Table({ tableName: 'named', timestamps: false })
class Named extends Base<Named> {
  @Column({ type: DataType.STRING(20), primaryKey: true }) declare name: string
}

@Controller('/smalls')
class Smalls {
  @Post('/') async create(session: Session) {
    session.add(Small.build({ n: 1 }))
    await session.flush()
  }
  @Get('/count') count() {
    return Small.count()
  }
}

const models = [Small, Large, Named]
const servers = process.env['TEST_QUICK'] ? [] : [postgres, ...mysqls]
const post = { method: 'POST' }
const LAST = 32_767
const tags = { postgres: 'smallint', other: 'smallint(6)' }

/** Uses all keys up to this one. */
async function use(session: Session, last: number): Promise<void> {
  const isPostgres = session.sequelize.getDialect() === 'postgres'
  await session.execute(
    isPostgres
      ? sql`SELECT setval('"small_small id_seq"', ${last})`
      : sql`INSERT INTO small (${sql`\`small id\``}) VALUES (${last})`,
  )
}

function grow(isPostgres: boolean): readonly string[] {
  return isPostgres
    ? ['ALTER TABLE small ALTER COLUMN "small id" TYPE BIGINT', 'ALTER SEQUENCE "small_small id_seq" AS BIGINT']
    : ['ALTER TABLE small MODIFY `small id` BIGINT AUTO_INCREMENT']
}

for (const kind of servers) {
  const type = kind === postgres ? tags.postgres : tags.other
  const readyz = async (app: Pick<DatabaseApp, 'fetch'>) => {
    const response = await app.fetch('/readyz')
    const { status, keys } = (await response.json()) as { status: string; keys?: Record<string, unknown> }
    return [response.status, status, Object.values(keys ?? {})]
  }

  test(`${kind.name}: the share of used keys is in the health detail, in the check, and from three quarters on in the log of the start`, async (t) => {
    const url = await kind.url()
    const again = { ...kind, url: () => Promise.resolve(url) }
    const empty = await databaseApp(t, again, models, [Smalls], { health: { keys: true } })
    assert.deepEqual(await readyz(empty), [200, 'ok', [{ 'small.small id': 0, 'Large.id': 0 }]])
    assert.doesNotMatch(empty.log.join('\n'), /keys of/)
    await empty.database.session((session) => use(session, 26_000))
    assert.deepEqual(await readyz(empty), [200, 'ok', [{ 'small.small id': 0, 'Large.id': 0 }]], 'read once a minute')
    const { keys, hints } = await empty.database.check()
    const full = `small.small id has used 79 % of the keys of ${type} (26,000 of 32,767)`
    assert.deepEqual([keys[0], keys.length, hints.filter((hint) => hint.startsWith(full)).length], [full, 2, 1])
    await empty.close()
    const log: string[] = []
    const write = (line: string) => void log.push(line)
    const logger = { info: write, warn: write, error: write }
    const app = await databaseApp(t, again, models, [Smalls], { health: { keys: true }, logger })
    assert.deepEqual(await readyz(app), [200, 'ok', [{ 'small.small id': 0.7935, 'Large.id': 0 }]])
    assert.ok(log.some((line) => line.includes(`: ${full}: when all are used, every INSERT is a 503.`)))
  })

  test(`${kind.name}: a table without a free key is a 503 that says so, and works again when its column is larger`, async (t) => {
    const app = await databaseApp(t, kind, models, [Smalls], { health: { keys: true } })
    await app.database.session((session) => use(session, LAST - 1))
    assert.equal((await app.fetch('/smalls', post)).status, 204)
    for (let n = 0; n < 2; n++) {
      const refused = await app.fetch('/smalls', post)
      const { detail } = (await refused.json()) as { detail: string }
      assert.deepEqual([refused.status, detail], [503, 'The database has no key left for a new record.'])
    }
    assert.deepEqual(await readyz(app), [200, 'ok', [{ 'small.small id': 1, 'Large.id': 0 }]])
    for (const statement of grow(kind === postgres)) await app.database.sequelize.query(statement)
    // The first statement that PostgreSQL had prepared before is a 503 with Retry-After.
    await until('a row is stored', async () => (await app.fetch('/smalls', post)).status === 204)
  })
}

test('SQLite has no column whose keys run out', async (t) => {
  const app = await databaseApp(t, sqliteFile, models, [Smalls], { health: { keys: true } })
  const { keys } = (await (await app.fetch('/readyz')).json()) as { keys: Record<string, unknown> }
  assert.deepEqual(Object.values(keys), [{}])
  assert.deepEqual((await app.database.check()).keys, [])
})
