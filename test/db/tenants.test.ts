import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Client } from 'pg'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, Factory, Get, Header, Injectable, Page, Paginate, select, Session, sql } from 'sequitur'
import { databaseApp } from '../support/databases.js'
import { allowAccount, postgresUrl } from '../support/postgres.js'

test('PostgreSQL: with row level security each request reads the rows of its tenant alone, on shared connections', async (t) => {
  @Table({ tableName: 'note', timestamps: false })
  class Note extends Base<Note> {
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
    @Column({ type: DataType.TEXT, allowNull: false }) declare tenant: string
  }
  @Injectable()
  class Tenant {
    @Factory()
    static async of(session: Session, @Header({ name: 'x-tenant' }) tenant: string) {
      await session.execute(sql`SELECT set_config('app.tenant', ${tenant}, true)`)
      return new Tenant()
    }
  }
  @Controller('/notes', { requires: [Tenant] })
  class Notes {
    @Get('/all') async all(session: Session) {
      return (await session.all(select(Note))).map(({ tenant }) => tenant)
    }
    @Get('/', Page.of(Note)) list(paginate: Paginate<Note>) {
      return paginate(select(Note))
    }
  }
  @Controller('/others')
  class Others {
    @Get() async all(session: Session) {
      return (await session.all(select(Note))).map(({ tenant }) => tenant)
    }
  }
  const url = await postgresUrl()
  const role = `tenants_${randomBytes(4).toString('hex')}`
  const admin = new Client({ connectionString: url })
  await admin.connect()
  t.after(() => admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`).finally(() => admin.end()))
  await admin.query(`
    CREATE TABLE note (id integer PRIMARY KEY, tenant text NOT NULL);
    INSERT INTO note SELECT n, CASE WHEN n % 2 = 0 THEN 'even' ELSE 'odd' END FROM generate_series(1, 6) AS n;
    CREATE ROLE ${role} LOGIN PASSWORD 'tenants';
    GRANT SELECT ON note TO ${role};
    ALTER TABLE note ENABLE ROW LEVEL SECURITY;
    CREATE POLICY own ON note USING (tenant = current_setting('app.tenant', true))`)
  await allowAccount(role, 'tenants')
  const asRole = Object.assign(new URL(url), { username: role, password: 'tenants' }).href
  const kind = { name: 'PostgreSQL', url: () => Promise.resolve(asRole) }
  const { fetch } = await databaseApp(t, kind, [Note], [Notes, Others], {
    lifespan: { sync: false, poolSize: 2, poolTimeout: 20_000 },
  })

  const requests = Array.from({ length: 24 }, async (_, n) => {
    const tenant = n % 2 === 0 ? 'even' : 'odd'
    const answer = (path: string) =>
      fetch(path, { headers: { 'x-tenant': tenant } }).then((response) => response.json())
    assert.deepEqual(await answer('/notes/all'), [tenant, tenant, tenant])
    const page = (await answer('/notes')) as { data: { tenant: string }[]; meta: { total_items: number } }
    assert.deepEqual([page.meta.total_items, new Set(page.data.map((row) => row.tenant))], [3, new Set([tenant])])
    assert.deepEqual(await (await fetch('/others')).json(), [])
  })
  await Promise.all(requests)
})
