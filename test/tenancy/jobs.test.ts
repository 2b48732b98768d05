import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Field, Post, select, Session, withSession } from 'sequitur'
import { Attempt, Job, JobRecord, Jobs, jobsOf } from 'sequitur/jobs'
import { Unscoped } from 'sequitur/tenancy'
import { until } from '../support/waiting.js'
import { as, Hero, models, rowsOf, seed, tenantApp, tenantDatabases, unscopedDatabases } from './tenants.js'

class Rename {
  @Field() to!: string
}

const seen: number[] = []

class HeroJobs {
  @Job({ name: 'hero.rename', attempts: 1 })
  async rename(input: Rename, session: Session, attempt: Attempt, jobs: Jobs) {
    await attempt.step('count', async (own) => void seen.push(await own.count(select(Hero))))
    for (const hero of await session.all(select(Hero))) await hero.update({ name: input.to })
    if (!input.to.endsWith('again')) await jobs.add(HeroJobs, 'rename', { to: `${input.to} again` }, { key: 'same' })
  }
}

class AllJobs {
  @Unscoped()
  @Job({ name: 'hero.count', attempts: 1 })
  async count(session: Session) {
    seen.push(await session.count(select(Hero)))
  }
}

@Controller('/rename')
class RenameController {
  @Post('/')
  async rename(input: Rename, jobs: Jobs) {
    return jobs.add(HeroJobs, 'rename', input, { key: 'one of each tenant' })
  }
}

for (const kind of tenantDatabases) {
  test(`a job reaches the rows of the tenant that added it, also in its steps and the jobs that it adds: ${kind.name}`, async (t) => {
    seen.length = 0
    const app = await tenantApp(t, kind, [RenameController], {
      models: [...models, JobRecord],
      jobs: [HeroJobs],
      work: { default: 4 },
    })
    await seed(app.database)
    const before = await rowsOf(app.query, 2)
    const rename = (tenant: number) =>
      as(app, tenant)('/rename', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ to: `of ${tenant}` }),
      })
    assert.equal((await rename(1)).status, 201)
    const jobs = async () =>
      (await app.query('SELECT state, job_tenant AS tenant FROM job ORDER BY id')) as {
        state: string
        tenant: string
      }[]
    await until('two jobs have ended', async () => (await jobs()).filter(({ state }) => state === 'done').length === 2)
    assert.deepEqual(
      (await jobs()).map(({ tenant }) => tenant),
      ['1', '1'],
    )
    assert.equal(await rowsOf(app.query, 2), before)
    const own = (await app.query('SELECT name FROM hero WHERE tenant_id = 1')) as { name: string }[]
    assert.deepEqual([...new Set(own.map(({ name }) => name))], ['of 1 again'])
    assert.deepEqual(seen, [own.length, own.length])
    // The key of one tenant is not that of the other.
    assert.equal((await rename(2)).status, 201)
    await until('the other tenant has its own', async () => (await jobs()).length === 4)
  })
}

for (const kind of unscopedDatabases)
  test(`a job with @Unscoped() reaches the rows of all, and one that no tenant has added none: ${kind.name}`, async (t) => {
    seen.length = 0
    const app = await tenantApp(t, kind, [], {
      models: [...models, JobRecord],
      jobs: [HeroJobs, AllJobs],
      work: { default: 1 },
    })
    await seed(app.database)
    await withSession(app.database, async (session) => {
      await jobsOf(session).add(AllJobs, 'count')
      await jobsOf(session).add(HeroJobs, 'rename', { to: 'x' })
    })
    const states = async () =>
      ((await app.query('SELECT state FROM job ORDER BY id')) as { state: string }[]).map(({ state }) => state)
    await until('both have ended', async () => (await states()).join() === 'done,dead')
    assert.deepEqual(seen, [10])
    assert.match(
      ((await app.query("SELECT error FROM job WHERE state = 'dead'")) as { error: string }[])[0]?.error ?? '',
      /^TenancyError/,
    )
  })
