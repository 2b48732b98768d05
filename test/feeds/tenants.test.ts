import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, newLifespan, withSession } from 'sequitur'
import { FeedEvent, feedsOf } from 'sequitur/feeds'
import { tenancy, unscoped, withTenant } from 'sequitur/tenancy'
import { EventClient } from '../support/event-client.js'
import { databaseApp, databases, postgres, type TestDatabase } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { policyOf, tenantOfHeader } from '../tenancy/tenants.js'
import { Numbered, NumberedController } from './numbered.js'

/*
 * Topics belong to tenants: those of one name are different topics, and an id of one is none of the other's.
 */

/** A table of tenants, without which there would be none. */
@Table({ tableName: 'task', timestamps: false })
class Task extends Base<Task> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false, field: 'tenant_id' }) declare tenant: number
}

const MODELS = [Task, FeedEvent]

/** A database in which sessions of tenants have a role that owns nothing, on PostgreSQL. */
async function open(t: TestContext, kind: TestDatabase): Promise<{ readonly url: string; readonly role?: string }> {
  const url = await kind.url()
  if (kind !== postgres) return { url }
  const setup = newLifespan(url, { models: MODELS, sync: true })
  await setup.start()
  await setup.stop()
  const role = `tenants_${randomBytes(4).toString('hex')}`
  const admin = new Client({ connectionString: url })
  await admin.connect()
  t.after(() => admin.query(`DROP OWNED BY ${role}; DROP ROLE ${role}`).finally(() => admin.end()))
  await admin.query(`
    CREATE ROLE ${role};
    GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role};
    GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${role};
    ${policyOf('task')}`)
  return { url, role }
}

for (const kind of databases)
  test(`${kind.name}: a client receives the events of its tenant, whatever id it sends`, async (t) => {
    const { url, ...role } = await open(t, kind)
    const boundary = tenancy({ of: tenantOfHeader, column: 'tenant_id', ...role })
    const opened = { name: kind.name, url: () => Promise.resolve(url) }
    const app = await databaseApp(t, opened, MODELS, [NumberedController], {
      lifespan: { boundary, sync: kind !== postgres, echo: false },
    })
    const publish = (tenant: number | undefined, number: number) => {
      const work = () =>
        withSession(app.database, async (session) =>
          feedsOf(session).publish(Numbered, { number, topic: 'shared' }, { topic: 'shared' }),
        )
      return tenant === undefined ? unscoped(work) : withTenant(tenant, work)
    }
    const follow = async (tenant: number, id = '') => {
      const numbers: (number | string)[] = []
      const client = new EventClient({
        url: () => `${app.url}/events?topic=shared`,
        receive: ({ type, data }) =>
          void numbers.push(type === 'law.numbered' ? (JSON.parse(data) as Numbered).number : type),
        headers: { 'x-tenant': String(tenant) },
        id,
      })
      t.after(() => client.stop())
      await until('it is connected', () => client.connections > 0 && client.id !== '')
      return { client, numbers }
    }
    const [one, two] = [await follow(1), await follow(2)]
    const first = one.client.id
    for (const number of [1, 2, 3]) await publish(1, number)
    await publish(undefined, 100) // of no tenant
    await publish(2, 4)
    await until('the second tenant has its event', () => two.numbers.length > 0)
    await publish(1, 5)
    await until('the first tenant has its events', () => one.numbers.includes(5))
    assert.deepEqual([one.numbers, two.numbers], [[1, 2, 3, 5], [4]])
    // With the id of the other tenant nothing is known of its own: it is told so, and goes on.
    const foreign = await follow(2, first).catch(() => undefined)
    assert.ok(foreign)
    await until('it is told', () => foreign.numbers.includes('reset'))
    await publish(1, 6)
    await publish(2, 7)
    await until('it has the event of its tenant', () => foreign.numbers.includes(7))
    assert.deepEqual(foreign.numbers, ['reset', 7])
    await until('the first tenant goes on', () => one.numbers.includes(6))
  })
