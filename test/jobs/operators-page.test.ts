// The same on both query paths: it tests a page.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { Page } from 'playwright-core'
import { Cookie, Field, Header, Injectable, Security, type Session, unauthorized, withSession } from 'sequitur'
import { type AddOptions, Job, JobRecord, jobsController, jobsOf } from 'sequitur/jobs'
import { JobWorker } from '../../src/jobs/tables.js'
import { plainServer } from '../support/connection.js'
import { openPage, skipWithoutBrowser as skip } from '../support/browser.js'
import { databaseApp, sqliteFile } from '../support/databases.js'
import { until } from '../support/waiting.js'

class Mail {
  @Field() to!: string
}

class MailJobs {
  @Job({ name: 'mail.welcome', queue: 'mail' })
  welcome(input: Mail) {
    void input
  }
}

let challenge = 'Bearer'
const ACCEPTED = ['Bearer token of Ann', `Basic ${Buffer.from('ann:x').toString('base64')}`]

/** By the cookie of a login, by a token, or by a password that the browser asks for. */
@Injectable()
@Security({ type: 'apiKey', in: 'cookie', name: 'sid' }, { name: 'Session' })
@Security({ type: 'http', scheme: 'bearer' }, { name: 'Bearer' })
class Admin {
  constructor(@Cookie('sid', { optional: true }) sid?: string, @Header({ optional: true }) authorization?: string) {
    if (sid === 'admin' || ACCEPTED.includes(authorization ?? '')) return
    unauthorized('Log in as an admin.', { headers: { 'www-authenticate': challenge } })
  }
}

type Row = Partial<Record<keyof JobRecord, unknown>>

const minutesAgo = (minutes: number) => String(Date.now() - minutes * 60_000)
const dead = (more: Row = {}): Row => ({
  state: 'dead',
  attempt: 10,
  finished: minutesAgo(3),
  error: 'SmtpError ECONNREFUSED (log 1a2b3c4d)',
  ...more,
})

async function pageApp(t: TestContext) {
  const app = await databaseApp(t, sqliteFile, [JobRecord], [jobsController({ requires: [Admin] })], {
    jobs: [MailJobs],
  })
  const page = await openPage(t)
  const complaints: string[] = []
  page.on('request', (request) => {
    const { origin, protocol } = new URL(request.url())
    if (origin !== app.url && protocol !== 'data:') complaints.push(request.url())
  })
  page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())))
  page.on('pageerror', (error) => complaints.push(String(error)))
  const inSession = <T>(what: (session: Session) => Promise<T>) => withSession(app.database, what)
  return {
    ...app,
    page,
    complaints,
    login: () => page.context().addCookies([{ name: 'sid', value: 'admin', url: app.url }]),
    open: () => page.goto(`${app.url}/jobs/page`),
    async add(row: Row = {}, options: AddOptions = {}, to = 'ann@example.org'): Promise<string> {
      const { id } = await inSession((session) => jobsOf(session).add(MailJobs, 'welcome', { to }, options))
      if (Object.keys(row).length > 0) await inSession(() => JobRecord.update(row as object, { where: { id } }))
      return id
    },
    stateOf: async (id: string) => (await inSession((session) => session.get(JobRecord, id)))?.state,
    inSession,
  }
}

type PageApp = Awaited<ReturnType<typeof pageApp>>

/** Each state, with what is wrong at three in the morning. */
async function seed(app: PageApp): Promise<void> {
  for (let n = 0; n < 4; n++) await app.add({ due: minutesAgo(14) })
  await app.add({ state: 'running', worker: 'w1'.padEnd(36, '0'), started: minutesAgo(6), limit_key: 'a' })
  await app.add({
    state: 'delayed',
    due: String(Date.now() + 600_000),
    error: 'TimeoutError (log 00ff00ff)',
    attempt: 3,
  })
  await app.add({}, { delay: 3_600_000, queue: 'reports' })
  await app.add({ state: 'limited', limit_key: 'a' }, { queue: 'bills' })
  await app.add({ due: minutesAgo(2) }, { queue: 'bills' })
  for (let n = 0; n < 3; n++) await app.add(dead())
  await app.add(
    dead({ name: 'bill.charge', error: 'SequelizeDatabaseError 23514 (log deadbeef)', finished: minutesAgo(200) }),
  )
  await app.add({ state: 'done', finished: minutesAgo(0.2) })
  await app.inSession(async () => {
    const valid_until = String(Date.now() + 25_000)
    await JobWorker.create({
      id: 'w1'.padEnd(36, '0'),
      host: 'worker-1.example.org',
      valid_until,
      queues: 'mail=5,reports=1',
    })
    await JobWorker.create({ id: 'w2'.padEnd(36, '0'), host: 'worker-2.example.org', valid_until: minutesAgo(1) })
  })
}

async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env['SCREENSHOTS']
  if (folder) await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true })
}

const rows = (page: Page, table: string) => page.locator(`#${table} tbody tr`)
const row = (page: Page, id: string) =>
  rows(page, 'jobs').filter({ has: page.locator(`button[data-action="open"][data-id="${id}"]`) })

test('the page shows what is stuck, since when and why, all from its own origin', { skip }, async (t) => {
  const app = await pageApp(t)
  await seed(app)
  await app.login()
  await app.open()
  await rows(app.page, 'queues').first().waitFor()
  const notices = await app.page.locator('.notice').allTextContents()
  assert.match(
    notices.join('\n'),
    /bills: the oldest job is due for 2 min, and no process works on this queue\. .*sequitur work --queue bills=5/,
  )
  assert.match(notices.join('\n'), /mail: the oldest job is due for 14 min/)
  assert.match(notices.join('\n'), /mail\.welcome: 3 jobs dead by SmtpError ECONNREFUSED, the last one 3 min ago/)
  assert.doesNotMatch(notices.join('\n'), /bill\.charge/)
  assert.equal(await rows(app.page, 'queues').count(), 3)
  assert.equal(await rows(app.page, 'dead').count(), 2)
  assert.equal(await rows(app.page, 'jobs').count(), 4)
  assert.match((await rows(app.page, 'workers').nth(1).textContent()) ?? '', /worker-2\.example\.org.*ended 1 min ago/)
  assert.match((await rows(app.page, 'workers').nth(0).textContent()) ?? '', /mail \(5\), reports \(1\)/)
  assert.match((await rows(app.page, 'workers').nth(1).textContent()) ?? '', /not known/)
  assert.ok(!(await app.page.content()).includes('ann@example.org'))
  await screenshot(app.page, 'light')
  await app.page.emulateMedia({ colorScheme: 'dark' })
  await screenshot(app.page, 'dark')
  await app.page.setViewportSize({ width: 390, height: 800 })
  await screenshot(app.page, 'phone')
  const overflow = await app.page.evaluate('document.documentElement.scrollWidth - innerWidth')
  assert.equal(overflow, 0)
  assert.deepEqual(app.complaints, [])
})

test('the page retries and discards after a confirmation, and says what it does', { skip }, async (t) => {
  const app = await pageApp(t)
  const [first, second] = [await app.add(dead()), await app.add(dead())]
  const waiting = await app.add()
  await app.login()
  await app.open()
  await row(app.page, first).getByText('Retry').click()
  const dialog = app.page.locator('#confirm')
  assert.match((await dialog.textContent()) ?? '', /was rolled back.*may happen a second time/)
  await screenshot(app.page, 'confirm')
  await app.page.locator('#confirm-no').click()
  assert.equal(await app.stateOf(first), 'dead')
  await row(app.page, first).getByText('Retry').click()
  await app.page.locator('#confirm-yes').click()
  await row(app.page, first).waitFor({ state: 'detached' })
  assert.equal(await app.stateOf(first), 'ready')

  await row(app.page, second).getByText('Delete').click()
  assert.match((await dialog.textContent()) ?? '', /cannot be undone/)
  await app.page.locator('#confirm-yes').click()
  await row(app.page, second).waitFor({ state: 'detached' })
  assert.equal(await app.stateOf(second), undefined)

  await app.page.locator('select[name=state]').selectOption('ready')
  await row(app.page, waiting).getByText('Discard').click()
  await app.page.locator('#confirm-yes').click()
  await row(app.page, waiting).waitFor({ state: 'detached' })
  assert.equal(await app.stateOf(waiting), 'dead')
  assert.deepEqual(app.complaints, [])
})

test(
  'the page says since when a job runs, and which one holds the limit that another waits for',
  { skip },
  async (t) => {
    const app = await pageApp(t)
    const limit_key = '0123456789abcdef'
    const running = await app.add({ state: 'running', worker: 'w1', started: minutesAgo(6), limit_key })
    const waiting = await app.add({ state: 'limited', limit_key })
    await app.login()
    await app.open()
    await app.page.locator('select[name=state]').selectOption('')
    await row(app.page, running).getByText('started 6 min ago').waitFor()
    assert.match((await row(app.page, waiting).textContent()) ?? '', /limited.*limit 01234567(?!8)/)
    await row(app.page, waiting).locator('button.link').click()
    await app.page.locator('#job-facts').getByText(`job ${running}`).click()
    await app.page.locator('#job-title').getByText(`mail.welcome ${running}`).waitFor()
    assert.match((await app.page.locator('#job-facts').textContent()) ?? '', /Started.*6 min ago/)
    await screenshot(app.page, 'limit')
    assert.deepEqual(app.complaints, [])
  },
)

test('the page tells an operator who comes too late that nothing was changed', { skip }, async (t) => {
  const app = await pageApp(t)
  const id = await app.add(dead())
  await app.login()
  await app.open()
  await row(app.page, id).getByText('Retry').click()
  await app.inSession(() => JobRecord.update({ state: 'running' }, { where: { id } }))
  await app.page.locator('#confirm-yes').click()
  await app.page.getByText('It was not done: The job is running, and not dead: nothing was changed. (409)').waitFor()
  assert.deepEqual(
    app.complaints.filter((text) => !text.includes('409')),
    [],
  )
})

test('the page retries all dead jobs of an error, and opens one with its input as text', { skip }, async (t) => {
  const app = await pageApp(t)
  await app.inSession((session) =>
    Promise.all(
      Array.from({ length: 130 }, () =>
        jobsOf(session).add(MailJobs, 'welcome', { to: '<img src=x onerror=alert(1)>' }),
      ),
    ),
  )
  await app.inSession(() => JobRecord.update(dead() as object, { where: {} }))
  await app.add(dead({ error: 'Discarded' }))
  await app.login()
  await app.open()
  await app.page.locator('#more').click()
  await until('more are shown', async () => (await rows(app.page, 'jobs').count()) === 50)
  await row(app.page, '130').locator('button.link').click()
  await app.page.locator('#job-input').getByText('onerror=alert(1)').waitFor()
  assert.equal(await app.page.locator('img').count(), 0)
  await screenshot(app.page, 'job')
  await app.page.locator('#job-buttons').getByText('Close').click()
  await rows(app.page, 'dead').filter({ hasText: 'SmtpError' }).getByText('Retry all').click()
  await app.page.getByText('Retry 130 jobs?').waitFor()
  await app.page.locator('#confirm-yes').click()
  await app.page.getByText('130 jobs retried.').waitFor()
  await screenshot(app.page, 'retried')
  await app.page.locator('#confirm-no').click()
  await until('one group is left', async () => (await rows(app.page, 'dead').count()) === 1)
  assert.equal(await app.inSession(() => JobRecord.count({ where: { state: 'dead' } })), 1)
  assert.deepEqual(app.complaints, [])
})

test('the page refreshes itself, and takes a token where there is no cookie', { skip }, async (t) => {
  const app = await pageApp(t)
  await app.open()
  await app.page.getByText('Log in as an admin. (401)').waitFor()
  await screenshot(app.page, 'login')
  await app.page.locator('#login-value').fill('Bearer token of Ann')
  await app.page.locator('#login button').click()
  await app.page.getByText('There are no jobs.').waitFor()
  await screenshot(app.page, 'empty')
  const id = await app.add(dead())
  await row(app.page, id).waitFor({ timeout: 12_000 })
  assert.deepEqual(
    app.complaints.filter((text) => !text.includes('401')),
    [],
  )
})

test('the page says that the app does not answer, and goes back to work when it does', { skip }, async (t) => {
  const app = await pageApp(t)
  await app.add(dead())
  await app.login()
  await app.open()
  await rows(app.page, 'queues').first().waitFor()
  await app.page.route('**/jobs/overview', (route) => route.abort())
  await app.page.getByText('The app does not answer').waitFor({ timeout: 12_000 })
  assert.equal(await rows(app.page, 'jobs').count(), 1)
  await app.page.unroute('**/jobs/overview')
  await app.page.getByText('The app does not answer').waitFor({ state: 'detached', timeout: 12_000 })
})

test(
  'the page works below the path at which an app is mounted, and with the password of a browser',
  { skip },
  async (t) => {
    challenge = 'Basic'
    t.after(() => (challenge = 'Bearer'))
    const app = await pageApp(t)
    await app.add(dead())
    const url = await plainServer(t, (request, response) => {
      request.url = (request.url as string).replace(/^\/api/, '')
      app.app.handler(request, response)
    })
    const context = await app.page
      .context()
      .browser()
      ?.newContext({ httpCredentials: { username: 'ann', password: 'x' } })
    const page = await context?.newPage()
    assert.ok(page)
    await page.goto(`${url}/api/jobs/page`)
    await rows(page, 'queues').getByText('mail').waitFor()
  },
)
