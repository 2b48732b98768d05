import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, type Database, Get, sql, Session, Transactional, withSession } from 'sequitur'
import { databaseApp, postgres, skipIfShared } from '../support/databases.js'

const lifespan = { poolSize: 1, echo: false }

@Controller('/')
class State {
  @Get('/leave') async leave(session: Session, statement: string) {
    await session.execute({ ...sql`${1}`, texts: [statement], values: [] })
  }
  @Get('/path') path(session: Session) {
    return session.execute(sql`SELECT current_setting('search_path') AS path, pg_backend_pid() AS process,
      (SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND pid = pg_backend_pid()) AS locks`)
  }
}

test(
  'PostgreSQL: what a handler leaves on its connection is not met by the next request',
  { skip: skipIfShared },
  async (t) => {
    const app = await databaseApp(t, postgres, [], [State], { lifespan })
    const ask = async (path: string) => (await app.fetch(path)).json() as Promise<unknown>
    const leave = async (statement: string) =>
      assert.equal((await app.fetch(`/leave?statement=${encodeURIComponent(statement)}`)).status, 204)
    const [before] = (await ask('/path')) as [{ process: number }]
    for (const statement of ['SET LOCAL search_path = x', "SELECT set_config('search_path', 'x', true)", 'SELECT 1'])
      await leave(statement)
    assert.deepEqual(await ask('/path'), [before])
    let { process } = before
    for (const statement of [
      'SET search_path = x',
      "/* path */ SELECT set_config('search_path', 'x', false)",
      'SELECT 1; SET SESSION search_path TO x',
      'SELECT pg_advisory_lock(42)',
      'LISTEN changes',
      'CREATE TEMP TABLE state_left (id integer)',
    ]) {
      await leave(statement)
      const [after] = (await ask('/path')) as [{ process: number }]
      assert.notEqual(after.process, process, statement)
      assert.deepEqual({ ...after, process: before.process }, before)
      ;({ process } = after)
    }
  },
)

test(
  'PostgreSQL: a setting that a function changes, and that the server reports, is not met by the next request',
  { skip: skipIfShared },
  async (t) => {
    @Controller('/')
    class Zones {
      @Get('/change') async change(session: Session) {
        await session.execute(sql`SELECT change_zone()`)
      }
      @Get('/local') async local(session: Session) {
        await session.execute(sql`SET LOCAL TimeZone = 'Asia/Tokyo'`)
        await session.execute(sql`SET LOCAL application_name = 'local'`)
      }
      @Get('/zone') zone(session: Session) {
        return session.execute(sql`SELECT current_setting('TimeZone') AS zone, pg_backend_pid() AS process`)
      }
    }
    const { fetch, database } = await databaseApp(t, postgres, [], [Zones], { lifespan })
    await database.sequelize.query(`CREATE FUNCTION change_zone() RETURNS void LANGUAGE plpgsql AS $$
      BEGIN SET TimeZone = 'Asia/Tokyo'; END $$`)
    const ask = async () => ((await (await fetch('/zone')).json()) as [{ zone: string; process: number }])[0]
    const before = await ask()
    assert.equal(before.zone, 'UTC')
    await fetch('/local')
    assert.deepEqual(await ask(), before)
    await fetch('/change')
    const after = await ask()
    assert.equal(after.zone, 'UTC')
    assert.notEqual(after.process, before.process)
  },
)

test('PostgreSQL: a handler goes on after it has closed all prepared statements', async (t) => {
  @Controller('/')
  class Closing {
    @Get() async close(session: Session) {
      const one = async () => (await session.execute(sql<{ one: number }>`SELECT ${1}::integer AS one`))[0]?.one
      const before = await one()
      await session.execute(sql`DEALLOCATE ALL`)
      return [before, await one(), await one()]
    }
  }
  const { fetch } = await databaseApp(t, postgres, [], [Closing], { lifespan })
  for (const _ of [1, 2]) assert.deepEqual(await (await fetch('/')).json(), [1, 1, 1])
})

test('PostgreSQL: values are read as they are, whatever the defaults of the database are', async (t) => {
  const first = await databaseApp(t, postgres, [], [], { lifespan })
  const { sequelize } = first.database
  const name = new URL(await postgres.url()).pathname.slice(1)
  const set = (change: string) => sequelize.query(`ALTER DATABASE "${name}" ${change}`)
  const settings = ['datestyle', 'intervalstyle', 'bytea_output', 'extra_float_digits']
  const values = ['SQL, DMY', 'sql_standard', 'escape', '-15']
  try {
    for (const [index, setting] of settings.entries()) await set(`SET ${setting} = '${values[index]}'`)
    const { database } = await databaseApp(t, postgres, [], [], { lifespan })
    const read = sql`SELECT timestamptz '2024-05-06 07:08:09Z' AS at, interval '1 day 2 hours' AS span, bytea '\\xff00' AS bytes,
      float8 '0.30000000000000004' AS number`
    const [row] = await withSession(database, (session) => session.execute(read))
    assert.deepEqual(JSON.parse(JSON.stringify(row)), {
      at: '2024-05-06T07:08:09.000Z',
      span: { days: 1, hours: 2 },
      bytes: { type: 'Buffer', data: [255, 0] },
      number: 0.30000000000000004,
    })
  } finally {
    for (const setting of settings) await set(`RESET ${setting}`)
  }
})

for (const closes of ['DEALLOCATE ALL', 'DISCARD ALL', 'SELECT 1 / 0; DEALLOCATE ALL'])
  test(`PostgreSQL: a handler continues after a part that failed to close all prepared statements: ${closes}`, async (t) => {
    @Controller('/')
    class Closing {
      @Get() async close(session: Session) {
        const one = async () => (await session.execute(sql<{ one: number }>`SELECT ${1}::integer AS one`))[0]?.one
        const before = await one()
        const failing = session.nested(() => session.execute({ ...sql`${1}`, texts: [closes], values: [] }))
        await failing.catch(() => {})
        return [before, await one(), await one()]
      }
    }
    const { fetch } = await databaseApp(t, postgres, [], [Closing], { lifespan })
    for (const _ of [1, 2]) assert.deepEqual(await (await fetch('/')).json(), [1, 1, 1])
  })

test(
  'PostgreSQL: what a statement outside of a session leaves on its connection is not met by the next request',
  { skip: skipIfShared },
  async (t) => {
    let database: Database
    @Controller('/')
    class Outside {
      @Get('/leave') @Transactional(false) async leave(statement: string) {
        await database.sequelize.query(statement)
      }
      @Get('/path') path(session: Session) {
        return session.execute(
          sql`SELECT current_setting('search_path') AS path, current_setting('statement_timeout') AS timeout`,
        )
      }
    }
    const app = await databaseApp(t, postgres, [], [Outside], { lifespan })
    ;({ database } = app)
    const path = async () => (await app.fetch('/path')).json()
    const before = await path()
    for (const statement of [
      'SET search_path = x',
      'DISCARD ALL',
      'SET statement_timeout = 0',
      "SET TimeZone = 'Asia/Tokyo'",
    ]) {
      assert.equal((await app.fetch(`/leave?statement=${encodeURIComponent(statement)}`)).status, 204)
      assert.deepEqual(await path(), before, statement)
    }
  },
)
