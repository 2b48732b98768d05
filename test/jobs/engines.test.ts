// The same on both query paths: the statements of jobs are those of the other files.
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { Constructor } from '../../src/di/token.js'
import { Controller, Field, Post, select, sql, withSession } from 'sequitur'
import { JobRecord, Jobs } from 'sequitur/jobs'
import type { TestApp } from 'sequitur/testing'
import { Video } from '../../example/jobs/video.js'
import { databaseApp, postgres, skipIfShared } from '../support/databases.js'
import { until } from '../support/waiting.js'
import {
  bullmq,
  nats,
  rabbitmq,
  reasonToSkip,
  type RelayJobs,
  skipWithoutPackages,
  type Engine,
} from './relay-engines.js'

/*
 * The programs of docs/job-engines.md, each with its server if that answers on its usual port of this host. They use names that begin with "example".
 */

class NewRelay {
  @Field({ default: false }) fails!: boolean
}

/** A controller that adds jobs of this class. */
function controllerOf(VideoJobs: RelayJobs): Constructor {
  @Controller('/videos')
  class VideoController {
    @Post('/', { status: 204 })
    async create({ fails }: NewRelay, jobs: Jobs) {
      const { id: video_id } = await Video.create({ source: 'https://example.com/1.mp4' })
      await jobs.add(VideoJobs, 'relay', { video_id })
      if (fails) throw new Error('after add()')
    }
  }
  return VideoController
}

/** Milliseconds. */
const LEASE = '1500'

async function openRelay(t: TestContext, VideoJobs: RelayJobs) {
  const url = await postgres.url()
  const kind = { name: postgres.name, url: () => Promise.resolve(url) }
  const open = (work?: Record<string, number>) =>
    databaseApp(t, kind, [Video, JobRecord], [controllerOf(VideoJobs)], {
      jobs: [VideoJobs],
      ...(work ? { work } : {}),
    })
  let app = await open()
  return {
    url,
    add: async (fails: boolean) => (await app.fetch('/videos', { method: 'POST', json: { fails } })).status,
    jobs: () => withSession(app.database, (session) => session.all(select(JobRecord, { order: ['id'] }))),
    execute: <Row>(statement: ReturnType<typeof sql<Row>>) =>
      withSession(app.database, (session) => session.execute(statement)),
    /** Runs the jobs. */
    async work() {
      await app.close()
      process.env['toolkit_job_lease'] = LEASE // read by the start
      app = await open({ relay: 1 })
      delete process.env['toolkit_job_lease']
    },
  }
}

const HOLD = sql`CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(60); RETURN NEW; END'`
const HOLD_COMPLETION = sql`CREATE TRIGGER hold BEFORE UPDATE ON job FOR EACH ROW WHEN (NEW.state = 'done') EXECUTE FUNCTION hold()`
const END_HELD = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'`

/** A worker of its own process, whose lease is short. */
function startWorker(t: TestContext, program: string, url: string): ChildProcess {
  const flags = ['--conditions=sequitur-source', '--import', 'tsx', '--import', 'sequitur/register']
  const worker = spawn(process.execPath, [...flags, 'test/support/programs/relay.ts', program], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { ...process.env, toolkit_url: url, toolkit_job_lease: LEASE },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  t.after(() => worker.kill('SIGKILL'))
  return worker
}

const reasons = new Map<Engine, string | false>()
for (const engine of [bullmq, rabbitmq, nats]) reasons.set(engine, skipIfShared || (await reasonToSkip(engine)))

for (const [engine, skip] of reasons) {
  const { name, dropsRepeats } = engine

  test(
    `${name}: a relay publishes what was committed; if it is killed before its own commit, it publishes with the same key again`,
    { skip },
    async (t) => {
      const server = await engine.open(t)
      const relay = await openRelay(t, await engine.jobs())
      assert.equal(await relay.add(true), 500)
      assert.deepEqual(await relay.jobs(), [])
      assert.equal(await relay.add(false), 204)
      assert.deepEqual(await server.keys(), [])

      await relay.execute(HOLD)
      await relay.execute(HOLD_COMPLETION)
      const worker = startWorker(t, engine.program, relay.url)
      await until('it has published', async () => (await server.keys()).length === 1, 50, 30_000)
      const [key = ''] = await server.keys()
      worker.kill('SIGKILL')
      await once(worker, 'exit')
      assert.equal((await relay.jobs())[0]?.state, 'running')
      await relay.execute(END_HELD)
      await relay.execute(sql`DROP TRIGGER hold ON job`)

      await relay.work()
      await until('it is done', async () => (await relay.jobs())[0]?.state === 'done', 50, 30_000)
      const [job] = await relay.jobs()
      assert.deepEqual([job?.attempt, job?.run], [2, 2])
      assert.match(key, /^video\.relay-\d+-/)
      assert.deepEqual(await server.keys(), dropsRepeats ? [key] : [key, key])
    },
  )
}

for (const engine of [rabbitmq, nats]) {
  test(`${engine.name}: a message that nothing takes keeps its job`, { skip: reasons.get(engine) }, async (t) => {
    const server = await engine.open(t)
    const relay = await openRelay(t, await engine.jobs())
    await server.close?.()
    await relay.add(false)
    await relay.work()
    await until('it has failed', async () => (await relay.jobs())[0]?.state === 'delayed')
    await server.reopen?.()
    await relay.execute(sql`UPDATE job SET due = 0`)
    await until('it is done', async () => (await relay.jobs())[0]?.state === 'done')
    assert.equal((await server.keys()).length, 1)
  })
}

for (const engine of [bullmq, nats]) {
  test(`${engine.name}: a key that was forgotten is published again`, { skip: reasons.get(engine) }, async (t) => {
    const server = await engine.open(t)
    await server.repeat('example-1')
    await server.repeat('example-1')
    assert.deepEqual(await server.keys(), ['example-1'])
    await server.consumeAndForget?.()
    assert.deepEqual(await server.keys(), [])
    await server.repeat('example-1')
    assert.deepEqual(await server.keys(), ['example-1'])
  })
}

const NODE_22 = Number(process.versions.node.split('.')[0]) < 22 && 'its package needs Node 22'
const withPostgres = (name: string, packages: readonly string[]) =>
  skipIfShared || NODE_22 || skipWithoutPackages(name, packages)

/** Statuses of a request that is committed, and of one that a late unique index rolls back. */
const bothWays = async (app: TestApp) => {
  const post = async () =>
    (await app.fetch('/videos', { method: 'POST', json: { source: 'https://example.com/1.mp4' } })).status
  return [await post(), await post()]
}

// A deferred constraint fails at COMMIT, when the engine has its job.
const ONE_VIDEO = sql`ALTER TABLE video ADD UNIQUE (source) DEFERRABLE INITIALLY DEFERRED`

test(
  'pg-boss: a job is added in the transaction of the handler, and completed in that of its effects',
  { skip: withPostgres('pg-boss', ['pg-boss']) },
  async (t) => {
    const { Boss, VideoController, work } = await import('../../example/jobs/pg-boss.js')
    const url = await postgres.url()
    process.env['PGBOSS_URL'] = url // read by the start
    const app = await databaseApp(t, { name: 'PostgreSQL', url: async () => url }, [Video], [VideoController])
    const execute = <Row>(statement: ReturnType<typeof sql<Row>>) =>
      withSession(app.database, (session) => session.execute(statement))
    await execute(ONE_VIDEO)
    assert.deepEqual(await bothWays(app), [201, 409])
    const jobs = () => execute(sql`SELECT data, state FROM pgboss.job WHERE name = 'transcode'`)
    assert.deepEqual(await jobs(), [{ data: { video_id: 1 }, state: 'created' }])

    await execute(sql`CREATE TABLE transcoded (video_id INTEGER)`)
    const worker = await Boss.start()
    await work(worker)
    await until(
      'it is completed',
      async () => (await execute(sql`SELECT FROM pgboss.job WHERE state = 'completed'`)).length === 1,
    )
    assert.deepEqual(await execute(sql`SELECT video_id FROM transcoded`), [{ video_id: 1 }])
    await worker[Symbol.asyncDispose]()
  },
)

test(
  'Graphile Worker: a job is added in the transaction of the handler',
  { skip: withPostgres('Graphile Worker', ['graphile-worker']) },
  async (t) => {
    const { Logger, makeWorkerUtils, runOnce } = await import('graphile-worker')
    const { VideoController } = await import('../../example/jobs/graphile-worker.js')
    const connectionString = await postgres.url()
    const logger = new Logger(() => () => {})
    const utils = await makeWorkerUtils({ connectionString, logger })
    await utils.migrate()
    await utils.release()
    const app = await databaseApp(
      t,
      { name: 'PostgreSQL', url: async () => connectionString },
      [Video],
      [VideoController],
    )
    await withSession(app.database, (session) => session.execute(ONE_VIDEO))
    assert.deepEqual(await bothWays(app), [201, 409])
    const ran: unknown[] = []
    await runOnce({ connectionString, logger, taskList: { transcode: async (payload) => void ran.push(payload) } })
    assert.deepEqual(ran, [{ video_id: 1 }])
  },
)
