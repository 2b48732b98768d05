import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newLifespan, select, withSession } from 'sequitur'
import { JobRecord } from 'sequitur/jobs'
import { environment, flags, post, root, serve, temporaryFolder } from '../support/processes.js'
import { freePort } from '../support/postgres-server.js'
import { until } from '../support/waiting.js'
import { bullmq, reasonToSkip } from './relay-engines.js'

/*
 * The two programs of docs/from-bullmq.md.
 */

test('the program of BullMQ in docs/from-bullmq.md is the one that the tests run', () => {
  const page = readFileSync(join(root, 'docs/from-bullmq.md'), 'utf8')
  const [, code] = /^BullMQ:\n\n```ts\n(.*?)^```$/ms.exec(page) ?? []
  assert.equal(code, readFileSync(join(root, 'test/engines/bullmq-program.ts'), 'utf8'))
})

test('from-bullmq.ts: an account is welcomed once', async () => {
  const toolkit_url = `sqlite+sqlite3:///${join(temporaryFolder(), 'accounts.sqlite')}`
  const { url, output, stop } = await serve(['example/jobs/from-bullmq.ts'], { toolkit_url, PORT: '0' })
  assert.equal((await post(`${url}/accounts`, { email: 'robin@example.com' })).status, 201)
  assert.equal((await post(`${url}/accounts`, { email: 'robin@example.com' })).status, 409)
  const database = newLifespan(toolkit_url, { models: [JobRecord] })
  await until('the job is done', () =>
    withSession(database, async (session) => (await session.all(select(JobRecord)))[0]?.state === 'done'),
  )
  assert.equal(output().match(/^To robin@example\.com: Welcome! \(mail\.welcome-1-\w+\)$/gm)?.length, 1)
  assert.equal(await stop(), 0)
})

test('the program of BullMQ welcomes an account', { skip: await reasonToSkip(bullmq) }, async (t) => {
  const { Queue } = await import('bullmq')
  const queue = new Queue('example-mail', { connection: { host: '127.0.0.1', port: 6379 } })
  await queue.obliterate({ force: true })
  t.after(async () => {
    await queue.obliterate({ force: true })
    await queue.close()
  })
  const port = await freePort()
  const program = [...flags, 'test/engines/bullmq-program.ts']
  const child = spawn(process.execPath, program, { cwd: root, env: environment({ PORT: String(port) }) })
  t.after(() => child.kill('SIGKILL'))
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  await until(
    'it listens',
    () =>
      fetch(`http://127.0.0.1:${port}`).then(
        () => true,
        () => false,
      ),
    100,
    30_000,
  )
  assert.equal((await post(`http://127.0.0.1:${port}/accounts`, { email: 'robin@example.com' })).status, 201)
  await until('the mail is sent', () => /^To robin@example\.com: Welcome! \(mail-welcome-1\)$/m.test(output))
  await until('the job is removed', async () => !(await queue.getJob('welcome-1')))
  child.kill('SIGTERM')
  assert.deepEqual(await once(child, 'exit'), [0, null])
})
