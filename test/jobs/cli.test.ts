// The same on both query paths: its programs do not get the setting of the tests.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { newLifespan, select, type Session, sql, withSession } from 'sequitur'
import { type AddOptions, JobRecord, jobsOf } from 'sequitur/jobs'
import { sequiturIn } from '../support/command.js'
import { databases, sqliteFile, sqliteMemory, type TestDatabase } from '../support/databases.js'
import { environment, root, serveIn } from '../support/processes.js'
import { until } from '../support/waiting.js'
import { Effect } from './ledger.js'
import { MailJobs } from './programs/mail-jobs.js'

const MODULE = 'test/jobs/programs/mail.ts'
const states = ['dead', 'delayed', 'ready', 'running']
const main = join(root, 'dist/cli/main.js')

/** A database with the tables of the program, in which this process adds jobs. */
async function queue(t: TestContext, kind: TestDatabase) {
  const url = await kind.url()
  const database = newLifespan(url, { models: [Effect, JobRecord], sync: true })
  await database.start()
  t.after(() => database.stop())
  const variables = { toolkit_url: url }
  const inSession = <T>(work: (session: Session) => Promise<T>) => withSession(database, work)
  return {
    inSession,
    variables,
    command: (...words: string[]) => sequiturIn(root, variables, 'jobs', MODULE, ...words),
    /** Starts a worker, and waits until it works. */
    work: (words: readonly string[], others: Readonly<Record<string, string>> = {}) =>
      serveIn(root, [main, ...words], environment({ ...variables, ...others }), /(Working on [^"\n]+)/),
    add: (number: number, options: AddOptions & { readonly milliseconds?: number } = {}) => {
      const { milliseconds = 0, ...rest } = options
      return inSession((session) => jobsOf(session).add(MailJobs, 'send', { number, milliseconds }, rest))
    },
    jobs: () => inSession((session) => session.all(select(JobRecord, { order: ['id'] }))),
    set: (id: string, values: Partial<JobRecord>) => inSession(() => JobRecord.update(values, { where: { id } })),
    effects: async () =>
      (await inSession((session) => session.all(select(Effect, { order: ['number'] })))).map(({ number }) => number),
  }
}

for (const kind of databases.filter((one) => one !== sqliteMemory)) {
  const named = (name: string) => `${kind.name}: ${name}`

  test(named('sequitur jobs lists jobs, without their inputs'), async (t) => {
    const app = await queue(t, kind)
    assert.equal(app.command('list').stdout, 'No jobs.\n')
    await app.add(1)
    await app.add(2, { delay: 3 * 60_000 + 30_000, priority: 5 })
    await app.inSession((session) => jobsOf(session).add(MailJobs, 'refuse'))
    await app.set('3', { state: 'dead', attempt: 1, finished: '1', error: 'Error\u001b[2J' })
    await app.add(4)
    await app.set('4', { state: 'running', started: String(Date.now() - 90 * 60_000), limit_key: '0123456789abcdef' })
    const { status, stdout, stderr } = app.command('list', '--state', states.join(','))
    assert.deepEqual([status, stderr], [0, ''])
    assert.match(
      stdout.replaceAll(/\b\ds(?: ago)?\b/g, (text) => text.replace(/\d/, '0')),
      /^ID  NAME         QUEUE    STATE    ATTEMPT  AGE  DUE     RUNS  LIMIT     ERROR\n4   mail\.send    mail     running  0        0s   0s ago  1h    01234567\n3   mail\.refuse  default  dead     1        0s                           Error\\x1b\[2J\n2   mail\.send    mail     delayed  0        0s   in 3m\n1   mail\.send    mail     ready    0        0s   0s ago\n$/,
    )
    const idsOf = (...words: string[]) =>
      (JSON.parse(app.command('list', '--json', ...words).stdout) as { id: string }[]).map(({ id }) => id)
    assert.deepEqual(idsOf('--state', 'dead', '--state', 'ready'), ['3', '1'])
    assert.deepEqual(idsOf('--queue', 'mail', '--limit', '1'), ['4'])
    assert.deepEqual(idsOf('--name', 'mail.refuse'), ['3'])
    const [job] = JSON.parse(app.command('list', '--json', '--name', 'mail.refuse').stdout) as Record<string, unknown>[]
    assert.deepEqual(
      { ...job, created: '', due: '' },
      {
        id: '3',
        name: 'mail.refuse',
        queue: 'default',
        state: 'dead',
        priority: 0,
        attempt: 1,
        limit_key: null,
        tenant: null,
        worker: null,
        error: 'Error\u001b[2J',
        created: '',
        due: '',
        started: null,
        finished: '1970-01-01T00:00:00.001Z',
      },
    )
    assert.ok(Math.abs(Date.parse(String(job?.['created'])) - Date.now()) < 60_000)
  })

  test(named('sequitur jobs begins with the queues, and since when their oldest job is due'), async (t) => {
    const app = await queue(t, kind)
    for (const number of [1, 2, 3]) await app.add(number)
    await app.set('2', { due: String(Date.now() - 150 * 60_000) })
    await app.set('3', { state: 'running' })
    await app.add(4, { queue: 'slow', delay: 60_000 })
    await app.set((await app.add(5)).id, { state: 'dead', finished: '1' })
    await app.set((await app.add(6)).id, { state: 'done', finished: '1' })
    for (const words of [[], ['list']]) {
      const { status, stdout } = app.command(...words)
      assert.equal(status, 0)
      assert.match(
        stdout,
        /^QUEUE  WORKERS  OLDEST DUE  READY  RUNNING  DELAYED  LIMITED  DEAD  DONE IN A MINUTE\nmail   0        2h ago      2      1        0        0        1     0\nslow   0                    0      0        1        0        0     0\n\nID  NAME /,
      )
    }
    for (const words of [['--queue', 'mail'], ['--name', 'mail.send'], ['--json']])
      assert.doesNotMatch(app.command('list', ...words).stdout, /OLDEST/)
  })

  test(named('sequitur jobs retry makes dead jobs ready, with their keys'), async (t) => {
    const app = await queue(t, kind)
    for (const number of [1, 2, 3, 4]) await app.add(number, { key: `k${number}` })
    const before = await app.jobs()
    const bury = (id: string) =>
      app.set(id, {
        state: 'dead',
        attempt: 10,
        finished: '1',
        error: 'Error',
        unique_key: null,
        kept_key: before[Number(id) - 1]?.unique_key ?? null,
      })
    for (const id of ['1', '2', '3']) await bury(id)
    await app.add(2, { key: 'k2' }) // has the key of the second one now: job 5

    const some = app.command('retry', '1', '2', '4', '77')
    assert.deepEqual([some.status, some.stdout], [0, 'Retried 1 job.\n'])
    assert.deepEqual(some.stderr.split('\n'), [
      'Job 4 is ready, and not dead.',
      'The key of job 2 is that of another job, which has not ended.',
      'There is no job 77.',
      '',
    ])
    const [first, second] = await app.jobs()
    assert.deepEqual(
      [first?.state, first?.attempt, first?.unique_key, first?.kept_key, first?.finished],
      ['ready', 0, before[0]?.unique_key, null, null],
    )
    assert.equal(second?.state, 'dead')
    assert.equal((await app.add(1, { key: 'k1' })).id, '1')

    assert.equal(app.command('retry', '--name', 'mail.send').stdout, 'Retried 1 job.\n')
    assert.deepEqual(
      (await app.jobs()).map(({ state }) => state),
      ['ready', 'dead', 'ready', 'ready', 'ready'],
    )
    const nothing = app.command('retry', '--name', 'mail.refuse')
    assert.deepEqual([nothing.status, nothing.stdout], [1, 'No job was retried.\n'])
    // Two dead jobs that had one key: one of them has it again.
    await app.set('5', { state: 'dead', unique_key: null, kept_key: second?.kept_key ?? null })
    const both = app.command('retry', '2', '5')
    assert.deepEqual([both.status, both.stdout], [0, 'Retried 1 job.\n'])
    assert.match(both.stderr, /^The key of job 5 is that of another job/)
  })

  test(named('sequitur jobs discard ends what does not run'), async (t) => {
    const app = await queue(t, kind)
    for (const number of [1, 2, 3, 4]) await app.add(number, { key: `k${number}`, delay: number === 2 ? 60_000 : 0 })
    await app.set('3', { state: 'running' })
    await app.set('4', { state: 'done', unique_key: null })
    const [{ unique_key: key } = { unique_key: null }] = await app.jobs()
    const { status, stdout, stderr } = app.command('discard', '1', '2', '3', '4')
    assert.deepEqual([status, stdout, stderr], [0, 'Discarded 2 jobs.\n', 'Job 3 is running.\nJob 4 is done.\n'])
    const [first] = await app.jobs()
    assert.deepEqual([first?.state, first?.error, first?.unique_key, first?.kept_key], ['dead', 'Discarded', null, key])
    assert.ok(Number(first?.finished) > 1)
    // They can come back, or be deleted.
    assert.equal(app.command('retry', '1').status, 0)
    assert.equal(app.command('discard', '--name', 'mail.send', '--state', 'dead').stdout, 'Discarded 1 job.\n')
    assert.deepEqual(
      (await app.jobs()).map(({ id, state }) => `${id} ${state}`),
      ['1 ready', '3 running', '4 done'],
    )
    assert.equal(app.command('discard', '3', '4').status, 1)
  })

  test(named('many jobs of a name are changed at once'), async (t) => {
    const app = await queue(t, kind)
    await app.inSession(async (session) => {
      for (let number = 0; number < 1_001; number++)
        await jobsOf(session).add(MailJobs, 'send', { number, milliseconds: 0 })
    })
    assert.equal(app.command('discard', '--name', 'mail.send').stdout, 'Discarded 1001 jobs.\n')
    assert.equal(app.command('retry', '--name', 'mail.send').stdout, 'Retried 1001 jobs.\n')
    assert.equal((await app.jobs()).filter(({ state }) => state === 'ready').length, 1_001)
  })

  test(named('sequitur work runs jobs, does not listen, and ends after the running ones'), async (t) => {
    const app = await queue(t, kind)
    await app.add(1)
    const worker = await app.work(['work', MODULE])
    assert.equal(worker.url, 'Working on mail=10, default=10')
    await until('the first job is done', async () => (await app.effects()).length === 1)
    await app.add(2, { milliseconds: 1_000 })
    await until('the second job runs', () => worker.output().includes('sends 2'))
    assert.equal(await worker.stop('SIGTERM'), 0)
    assert.deepEqual(await app.effects(), [1, 2])
    assert.match(worker.output(), /SIGTERM: closing after the running jobs/)
    assert.doesNotMatch(worker.output(), /Listening/)
  })

  test(named('sequitur doctor has hints about dead jobs, and jobs whose names are unknown'), async (t) => {
    const app = await queue(t, kind)
    const doctor = () => sequiturIn(root, app.variables, 'doctor', MODULE)
    assert.doesNotMatch(doctor().stdout, /hint/)
    for (const number of [1, 2, 3, 4]) await app.add(number)
    await app.set('1', { name: 'mail.old' })
    await app.set('2', { name: 'mail.old', state: 'delayed' })
    await app.set('3', { name: 'mail.older', state: 'done' })
    await app.set('4', { state: 'dead' })
    const { status, stdout } = doctor()
    assert.equal(status, 0)
    assert.deepEqual(stdout.match(/^hint.*$/gm), [
      'hint     jobs: jobs wait whose names no class of createApp({ jobs }) has: mail.old (2). Give a method the name back that it had, discard them, or ignore this if another program runs them',
      'hint     jobs: 1 job is dead: npx sequitur jobs list --state dead',
    ])
  })

  test(named('sequitur doctor has a hint about queues on which no process works'), async (t) => {
    const app = await queue(t, kind)
    const hints = () => sequiturIn(root, app.variables, 'doctor', MODULE).stdout.match(/^hint.*$/gm)
    const due = String(Date.now() - 150 * 60_000)
    for (const name of ['mail', 'slow', 'slow', 'new']) await app.add(1, { queue: name })
    for (const id of ['1', '2', '3']) await app.set(id, { due })
    const advice = 'Name them in createApp({ work }), or start npx sequitur work --queue'
    const slow = 'slow (2, the oldest for 150 min; no method of the app has it)'
    const none = 'hint     jobs: jobs are due in queues on which no process works'
    assert.deepEqual(hints(), [`${none}: mail (1, the oldest for 150 min), ${slow}. ${advice} mail=5`])
    await app.inSession((session) =>
      session.execute(
        sql`INSERT INTO job_worker (id, host, queues, valid_until) VALUES ('w1', 'a', 'mail=5', ${Date.now() + 600_000})`,
      ),
    )
    assert.deepEqual(hints(), [`${none}: ${slow}. ${advice} slow=5`])
  })
}

const onFile = (name: string, work: (app: Awaited<ReturnType<typeof queue>>) => Promise<void>) =>
  test(name, async (t) => work(await queue(t, sqliteFile)))

onFile('the queues of a worker are those of the command, else those of the app', async (app) => {
  const ofApp = await app.work(['work', MODULE], { WORK: '3' })
  assert.equal(ofApp.url, 'Working on mail=3')
  assert.equal(await ofApp.stop('SIGINT'), 0)
  const ofCommand = await app.work(['jobs', MODULE, 'work', '--queue', 'mail=5', '--queue', 'default=1'], { WORK: '3' })
  assert.equal(ofCommand.url, 'Working on mail=5, default=1')
  assert.equal(await ofCommand.stop('SIGINT'), 0)
})

onFile('a second signal ends a worker at once, and its job runs again', async (app) => {
  await app.add(1, { milliseconds: 20_000 })
  const worker = await app.work(['work', MODULE])
  await until('the job runs', () => worker.output().includes('sends 1'))
  worker.signal('SIGTERM')
  await until('it closes', () => worker.output().includes('closing after'))
  assert.equal(await worker.stop('SIGTERM'), null)
  assert.deepEqual(await app.effects(), [])
  assert.equal((await app.jobs())[0]?.state, 'running')
})

for (const [words, message] of [
  [['work', MODULE, '--queue', 'mail'], "--queue is 'mail'. Write a queue and a number: --queue mail=5"],
  [['work', MODULE, '--queue', 'mial=5'], /^--queue has the queue mial, and no job has it\. Did you mean 'mail'\?\n$/],
  [['work', MODULE, '--queue', 'mail=0'], /^--queue\.mail is 0\. Write a whole number of jobs that run at once/],
  [
    ['work', 'example/quickstart.ts'],
    /^The app of example\/quickstart\.ts has no jobs and no relays\. .*jobs: \[MailJobs\], relays: \[toNats\]/,
  ],
  [['jobs', 'example/quickstart.ts', 'list'], /^The app of example\/quickstart\.ts has no jobs\./],
  [['jobs', MODULE, 'lst'], "sequitur jobs has no 'lst'. Did you mean 'list'?"],
  [['jobs', 'list'], 'There is no file src/app.ts. Name the module that calls createApp().'],
  [['jobs', MODULE, 'list', '--state', 'daed'], "There is no state 'daed'. Did you mean 'dead'?"],
  [['jobs', MODULE, 'list', '--limit', 'x'], "--limit is 'x'. Write a number from 1 to 10000."],
  [['jobs', MODULE, 'retry', '1', '--state', 'dead'], "sequitur jobs retry has no option '--state'. It has --name."],
  [['jobs', MODULE, 'retry'], /^Name the jobs by their ids, or all of a name: sequitur jobs retry 42/],
  [['jobs', MODULE, 'retry', '1', '--name', 'x'], /^Name the jobs by their ids, or all of a name/],
  [['jobs', MODULE, 'discard', 'x'], "'x' is not the id of a job. Write a number: sequitur jobs discard 42"],
] as const) {
  onFile(`sequitur ${words.join(' ')} exits with 1 and a message`, async ({ variables }) => {
    const { status, stdout, stderr } = sequiturIn(root, variables, ...words)
    assert.deepEqual([status, stdout], [1, ''])
    if (typeof message === 'string') assert.equal(stderr, `${message}\n`)
    else assert.match(stderr, message)
  })
}
