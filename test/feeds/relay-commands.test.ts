// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { newLifespan, type Session, sql, withSession } from 'sequitur'
import { FeedEvent, feedsOf } from 'sequitur/feeds'
import { sequiturIn } from '../support/command.js'
import { databases, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { environment, root, serveIn } from '../support/processes.js'
import { until } from '../support/waiting.js'
import { NotePrinted } from './programs/relayed.js'

const MODULE = 'test/feeds/programs/relayed.ts'
const main = join(root, 'dist/cli/main.js')

async function relayed(t: TestContext, kind: TestDatabase) {
  const url = await kind.url()
  const database = newLifespan(url, { models: [FeedEvent], sync: true })
  await database.start()
  t.after(() => database.stop())
  const variables = { toolkit_url: url }
  const inSession = <T>(work: (session: Session) => Promise<T>) => withSession(database, work)
  return {
    inSession,
    publish: (n: number) =>
      inSession(async (session) => feedsOf(session).publish(NotePrinted, { n }, { topic: 'notes' })),
    work: (others: Readonly<Record<string, string>> = {}) =>
      serveIn(root, [main, 'work', MODULE], environment({ ...variables, ...others }), /(Working on [^"\n]+)/),
    hints: () => sequiturIn(root, variables, 'doctor', MODULE).stdout.match(/^hint.*$/gm),
    command: (...words: string[]) => sequiturIn(root, variables, ...words),
  }
}

for (const kind of databases.filter((one) => one !== sqliteMemory)) {
  const named = (title: string) => `${title} on ${kind.name}`

  test(named('sequitur work runs relays, also of an app without jobs'), async (t) => {
    const app = await relayed(t, kind)
    await app.publish(1)
    const worker = await app.work()
    assert.equal(worker.url, 'Working on relay printer')
    await until('the first is printed', () => worker.output().includes('prints 1'))
    await app.publish(2)
    await until('the second is printed', () => worker.output().includes('prints 2'))
    assert.equal(await worker.stop('SIGTERM'), 0)
    const rows = await app.inSession((session) => session.execute(sql`SELECT taken_by FROM feed_relay`))
    assert.deepEqual(rows, [{ taken_by: null }])
  })

  test(
    named('sequitur doctor has hints about relays that fail, that no process runs, and that are unknown'),
    async (t) => {
      const app = await relayed(t, kind)
      assert.equal(app.hints(), null)
      await app.publish(1)
      const worker = await app.work({ FAILS: 'yes' })
      await until('it fails', () => worker.output().includes('no paper'))
      await worker.stop('SIGTERM')
      assert.match(
        app.hints()?.join('\n') ?? '',
        /^hint {5}relays: the relay printer has failed (?:once|\d+ times): Error\. Its events wait$/,
      )
      const again = await app.work()
      await until('it is printed', () => again.output().includes('prints 1'))
      await again.stop('SIGTERM')
      assert.match(
        app.hints()?.join('\n') ?? '',
        /^hint {5}relays: no process runs the relay printer\. Start npx sequitur work/,
      )
      await app.inSession((session) => session.execute(sql`UPDATE feed_relay SET name = 'other'`))
      assert.match(
        app.hints()?.join('\n') ?? '',
        /^hint {5}relays: the relay other is not one of createApp\(\{ relays \}\)/,
      )
    },
  )
}

test('sequitur work --queue is refused for an app that has relays, and no jobs', async (t) => {
  const app = await relayed(t, databases[0] ?? sqliteMemory)
  const { status, stderr } = app.command('work', MODULE, '--queue', 'mail=1')
  assert.equal(status, 1)
  assert.match(stderr, /The app has no jobs, and thus no queues/)
})
