import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test, type TestContext } from 'node:test'
import { Client } from 'pg'
import { QueryTypes } from 'sequelize'
import { sql, withSession } from 'sequitur'
import { feedsOf } from 'sequitur/feeds'
import { databaseApp, databases, postgres, skipIfShared, type TestDatabase } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { feedModels, follow, Loose, Numbered, NumberedController } from './numbered.js'

/*
 * The moment between the position of an event and the end of its COMMIT, which a deferred trigger makes long; and the one after it, in which a process may die before it
 * has told the others.
 */

/** The lock that the trigger waits for, in events from this number. */
const HELD = 1_000
const LOCK = 4_242

const TRIGGER = `
CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF (NEW.payload->>'number')::int >= ${HELD} THEN PERFORM pg_advisory_xact_lock(${LOCK}); END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER hold AFTER INSERT ON feed_event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION hold();`

async function start(t: TestContext, kind: TestDatabase) {
  const databaseUrl = await kind.url()
  const own = { ...kind, url: () => Promise.resolve(databaseUrl) }
  const { url, database } = await databaseApp(t, own, feedModels, [NumberedController], {
    lifespan: { echo: false, poolSize: 10 },
  })
  const publish = (number: number, topic: string) =>
    withSession(database, async (session) => feedsOf(session).publish(Numbered, { number, topic }, { topic }))
  const publishLoose = (number: number, topic: string) =>
    withSession(database, async (session) => feedsOf(session).publish(Loose, { number }, { topic }))
  return { url, databaseUrl, database, publish, publishLoose }
}

/** An app whose commits of events from {@link HELD} take until they are released. */
async function startHeld(t: TestContext) {
  const app = await start(t, postgres)
  const { database } = app
  await database.sequelize.query(TRIGGER)
  const holder = new Client({ connectionString: app.databaseUrl })
  await holder.connect()
  t.after(() => holder.end())
  await holder.query(`SELECT pg_advisory_lock(${LOCK})`)
  const waitingFor = async (lock: string) => {
    const { rows } = await holder.query(
      `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND ${lock}`,
    )
    return rows.length
  }
  return {
    ...app,
    release: () => holder.query(`SELECT pg_advisory_unlock(${LOCK})`),
    /** Waits until so many transactions wait in COMMIT, after they have their positions. */
    held: (count: number) =>
      until('they are held', async () => (await waitingFor(`objid = ${LOCK} AND classid = 0`)) === count),
    /** Waits until so many wait for the lock of a topic. */
    locked: (count: number) => until('they wait', async () => (await waitingFor('classid <> 0')) === count),
  }
}

test(
  'PostgreSQL: an event that is published while another one of its topic is committed waits for it, and other topics do not',
  { skip: skipIfShared },
  async (t) => {
    const { url, database, publish, held, locked, release } = await startHeld(t)
    const client = await follow(t, url, ['a', 'b'])
    const first = publish(HELD, 'a')
    await held(1)
    const second = publish(1, 'a')
    await locked(1)
    for (const number of [2, 3]) await publish(number, 'b')
    await client.has(3)
    assert.deepEqual(client.numbers('a'), [])
    await release()
    await Promise.all([first, second])
    await client.has(1)
    assert.deepEqual(client.numbers('a'), [HELD, 1])
    const rows = await withSession(database, (session) =>
      session.execute<{ number: number }>(
        sql`SELECT CAST(payload->>'number' AS INTEGER) AS number FROM feed_event ORDER BY position`,
      ),
    )
    const numbers = rows.map(({ number }) => number)
    assert.deepEqual(numbers, [HELD, 2, 3, 1]) // the position of the one that has waited was given under the lock
  },
)

test(
  'PostgreSQL: an event without order that is committed meanwhile makes no client lose one',
  { skip: skipIfShared },
  async (t) => {
    const { url, publish, publishLoose, held, release } = await startHeld(t)
    const early = await follow(t, url, ['a'])
    await publish(1, 'a')
    await early.has(1)
    const held1000 = publish(HELD, 'a')
    await held(1)
    await publishLoose(2, 'a')
    const late = await follow(t, url, ['a']) // begins now, with the positions that it can see
    const back = await follow(t, url, ['a'], early.id)
    await publish(3, 'b') // of another topic, so that readers read
    await publishLoose(4, 'a')
    await release()
    await held1000
    await publish(5, 'a')
    for (const client of [early, late, back]) await client.has(5)
    assert.deepEqual(early.numbers(), [1, HELD, 5])
    assert.deepEqual(late.numbers(), [HELD, 5])
    assert.deepEqual(back.numbers(), [HELD, 5])
  },
)

for (const kind of databases)
  test(`${kind.name}: an event is received although the process that has published it dies before it tells the others`, async (t) => {
    const { url, database, publish } = await start(t, kind)
    const client = await follow(t, url, ['a'])
    await publish(1, 'a')
    await client.has(1)
    // As a process that dies at once leaves it.
    await database.sequelize.transaction(async (transaction) => {
      const columns = 'topic_key, topic, aggregatetype, aggregateid, type, feed_tenant, trace, created'
      const isCounted = ['mysql', 'mariadb'].includes(database.sequelize.getDialect())
      if (isCounted) await database.sequelize.query('UPDATE feed_topic SET position = position + 1', { transaction })
      await database.sequelize.query(
        `INSERT INTO feed_event (${columns}, id, payload${isCounted ? ', position' : ''}) SELECT ${columns}, :id, :payload${isCounted ? ', position + 1' : ''} FROM feed_event`,
        {
          replacements: { id: randomUUID(), payload: JSON.stringify({ number: 2, topic: 'a' }) },
          type: QueryTypes.INSERT,
          transaction,
        },
      )
    })
    await client.has(2)
    await publish(3, 'a')
    await client.has(3)
    assert.deepEqual(client.numbers(), [1, 2, 3])
  })
