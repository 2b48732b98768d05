import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Field, newLifespan, withSession } from 'sequitur'
import { Job, JobRecord, jobsOf } from 'sequitur/jobs'
import { tenancy, unscoped, withTenant } from 'sequitur/tenancy'
import { databaseApp, databases, postgres, type TestDatabase } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { policyOf } from '../tenancy/tenants.js'

/** Its column has the name that a column of the table of jobs might have, too. */
@Table({ tableName: 'task', timestamps: false })
class Task extends Base<Task> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenant: number
  @Column({ type: DataType.STRING, allowNull: false }) declare title: string
}

class NewTask {
  @Field() title!: string
}

/** What the jobs of each title have seen. */
const seen: string[] = []

class TaskJobs {
  @Job({ name: 'task.create' })
  async create({ title }: NewTask) {
    await Task.create({ title } as never) // gets the tenant of the job
    const titles = (await Task.findAll()).map((task) => `${task.tenant} ${task.title}`)
    seen.push(`${title} sees ${titles.join(', ')}`)
  }
}

const MODELS = [Task, JobRecord]

/** A database in which sessions of tenants are limited by policies, on PostgreSQL. */
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
    ${policyOf('task', 'integer', 'tenant')}`)
  return { url, role }
}

for (const kind of databases)
  test(`${kind.name}: with tenancy({ column: 'tenant' }), a worker runs the jobs of all tenants, each in its tenant`, async (t) => {
    seen.length = 0
    const { url, ...role } = await open(t, kind)
    const boundary = tenancy({ of: () => undefined, column: 'tenant', ...role })
    const app = await databaseApp(t, { name: kind.name, url: () => Promise.resolve(url) }, MODELS, [], {
      jobs: [TaskJobs],
      work: { default: 1 },
      lifespan: { boundary, sync: kind !== postgres },
    })
    const add = (tenant: number) =>
      withTenant(tenant, () =>
        withSession(app.database, (session) => jobsOf(session).add(TaskJobs, 'create', { title: `task ${tenant}` })),
      )
    await add(1)
    await add(2)
    await until('both jobs have run', () => seen.length === 2)
    assert.deepEqual(seen.toSorted(), ['task 1 sees 1 task 1', 'task 2 sees 2 task 2'])
    const jobs = await unscoped(() => withSession(app.database, () => JobRecord.findAll({ order: ['id'] })))
    assert.deepEqual(
      jobs.map(({ job_tenant }) => job_tenant),
      ['1', '2'],
    )
  })
