// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { QueryTypes } from 'sequelize'
import { Controller, Get, Page, Paginate, Post, select, Session, Transactional } from 'sequitur'
import { IdempotencyRecord } from 'sequitur/idempotency'
import { Entries, Entry } from '../support/apps/entries.js'
import { databaseApp, openWithLog, postgres } from '../support/databases.js'
import { FAILURES, failingMessages, type Fault, type Sender } from '../support/failing-messages.js'
import { assertWhole, said } from '../support/faults.js'

/*
 * One message of a request fails: of each kind of request, at each state of the protocol, in each way. No row stays of a request that was refused, none is
 * missing of one that has succeeded, and the next request is served.
 */

@Controller('/')
class MoreEntries extends Entries {
  @Post('/nested/:name') async nested(name: string, session: Session) {
    await Entry.create({ request: name })
    await session.nested(() => Entry.create({ request: name }))
    await session
      .nested(async () => {
        await Entry.create({ request: name })
        throw new Error('undone')
      })
      .catch((error: Error) => {
        if (error.message !== 'undone') throw error
      })
  }
  @Transactional({ readOnly: true }) @Get('/read-only') readOnly(session: Session) {
    return session.count(select(Entry))
  }
  @Get('/page', Page.of(Entry)) page(paginate: Paginate<Entry>) {
    return paginate(select(Entry, { order: ['id'] }))
  }
  @Get('/alone') async alone(session: Session) {
    await session.get(Entry, 1)
    await session.count(select(Entry))
  }
}

/** How many rows each route writes. */
const ROWS = {
  one: 1,
  four: 4,
  flush: 4,
  read: 2,
  text: 3,
  key: 1,
  nested: 2,
  'read-only': 0,
  page: 0,
  alone: 0,
} as const
type Route = keyof typeof ROWS
const routes = Object.keys(ROWS) as Route[]
/** Those whose messages differ on Sequelize's own path. */
const SLOW_ROUTES: readonly Route[] = ['one', 'four', 'text', 'nested']

/** Errors with which servers and poolers end connections; the last one in another language. */
const FATAL = ['FATAL 57P01', 'FATAL 57P04', 'FATAL 25P04', 'FATAL 40001', 'FATAL XX000', 'ПАНИКА 53100'] as const
const UNKNOWN = /^503: It is not known whether this was saved/

async function open(t: TestContext, fastPath: boolean) {
  const url = await postgres.url()
  const network = await failingMessages(t, url)
  const through = { ...postgres, url: () => Promise.resolve(network.url) }
  const lifespan = { fastPath, poolSize: 1, echo: false }
  const options = { lifespan, timeouts: { handler: 1_000 } }
  const app = await databaseApp(t, through, [Entry, IdempotencyRecord], [MoreEntries], options)
  const { sequelize } = (await openWithLog(t, url, {})).database
  let last = 0
  const ask = async (route: Route) => {
    const name = `${route}-${++last}`
    const [path, method] = ROWS[route] === 0 ? [`/${route}`, 'GET'] : [`/${route}/${name}`, 'POST']
    return { name, answer: await said(app.fetch(path, { method, headers: { 'idempotency-key': `key-of-${name}` } })) }
  }
  const count = async (names: readonly string[]) => {
    const text = 'SELECT count(*)::int AS rows FROM entry WHERE request = ANY ($1::text[])'
    const [{ rows } = { rows: NaN }] = await sequelize.query<{ rows: number }>(text, {
      bind: [names],
      type: QueryTypes.SELECT,
    })
    return rows
  }
  return { app, network, ask, count }
}

/** The failures of all messages of a request: of mistakes in SQL and of errors at its end all, of the others some. */
function sample({ types }: { readonly types: Readonly<Record<Sender, string>> }, offset: number): readonly Fault[] {
  const faults: Fault[] = []
  let last = offset
  for (const sender of ['client', 'server'] as const)
    for (const failure of FAILURES[sender])
      for (const [index, type] of [...types[sender]].entries()) {
        const hasSql = /[PQ]/.test(type)
        const isEnd = sender === 'server' && index >= types.server.length - 2
        const isChosen = (failure === 'garbled' && hasSql) || (failure === 'fatal' && isEnd)
        const isSampled = ++last % (failure === 'held' ? 151 : 53) === 0 // held takes as long as the handler may
        if (isChosen || isSampled)
          faults.push({ sender, index, failure, error: FATAL[last % FATAL.length] ?? FATAL[0] })
      }
  return faults
}

for (const [path, fastPath] of [true, false].entries()) {
  test(`PostgreSQL: whichever message fails, what is answered is true; fastPath: ${fastPath}`, async (t) => {
    const { app, network, ask, count } = await open(t, fastPath)
    const refused: string[] = []
    let failures = 0

    async function meet(route: Route, fault: Fault): Promise<void> {
      network.fail(fault)
      const { name, answer } = await ask(route)
      failures += network.calm().failures
      const at = `${route}, ${JSON.stringify(fault)}: ${answer}`
      if (fault.failure !== 'garbled') assert.doesNotMatch(answer, /^500/, at)
      if (UNKNOWN.test(answer)) assert.ok([0, ROWS[route]].includes(await count([name])), at)
      else if (answer.startsWith('20')) assert.equal(await count([name]), ROWS[route], at)
      else refused.push(name)
      assert.match((await ask(route)).answer, /^20/, `after ${at}`)
    }

    for (const [index, route] of (fastPath ? routes : SLOW_ROUTES).entries()) {
      await ask(route)
      network.fail(undefined)
      await ask(route)
      for (const fault of sample(network.calm(), index + 13 * path)) await meet(route, fault)
    }
    assert.ok(failures > 40, `${failures} messages have failed`)
    assert.equal(await count(refused), 0)
    await assertWhole(app)
  })
}
