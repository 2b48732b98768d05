import { Base, createApp, Field, newLifespan, type Session, sql, withSession } from 'sequitur'
import { Event, FeedEvent, feedsOf } from 'sequitur/feeds'
import { QueryTypes } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

/*
 * What `feeds.publish()` costs in a transaction that inserts a row, compared with a second INSERT: milliseconds and milliseconds of CPU, in rounds that alternate. And how many
 * transactions a second publish to one topic, by eight at a time, compared with those that one connection commits one after the other.
 *
 * node --conditions=sequitur-source --import tsx --import sequitur/register bench/feeds/publish.ts <url> [rounds]
 */

const IN_ROUND = 200
/** Rounds that are not counted: until then, statements and functions are compiled. */
const WARM_UP = 40
const WRITERS = 8

@Event('bench.entered')
class Entered {
  @Field({ type: 'integer' }) number!: number
  @Field() name!: string
}

@Table({ tableName: 'entry', timestamps: false })
class Entry extends Base<Entry> {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare number: number
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
}

const [url = '', rounds = '20'] = process.argv.slice(2)
const database = newLifespan(url, { sync: true, poolSize: 10 })
const app = createApp({
  controllers: [],
  models: [Entry, FeedEvent],
  lifespan: database,
  logger: false,
})
await app.start()

const row = (number: number) => ({ number, name: `Entry ${number}` })
const insert = (session: Session, { number, name }: ReturnType<typeof row>) =>
  session.execute(sql`INSERT INTO entry (number, name) VALUES (${number}, ${name})`)
const inSession = (work: (session: Session) => Promise<unknown>) => withSession(database, work)

const ways = {
  one: (number: number) => inSession((session) => insert(session, row(number))),
  two: (number: number) =>
    inSession(async (session) => {
      await insert(session, row(number))
      await insert(session, row(number))
    }),
  publish: (number: number) =>
    inSession(async (session) => {
      await insert(session, row(number))
      feedsOf(session).publish(Entered, row(number), { topic: 'bench' })
    }),
}
type Way = keyof typeof ways
const times: Record<Way, number[]> = { one: [], two: [], publish: [] }
const cpu: Record<Way, number[]> = { one: [], two: [], publish: [] }

for (let round = -WARM_UP; round < Number(rounds); round++)
  for (const name of ['one', 'two', 'publish'] as const) {
    const { user, system } = process.cpuUsage()
    const begunAt = performance.now()
    for (let number = 0; number < IN_ROUND; number++) await ways[name](number)
    const milliseconds = (performance.now() - begunAt) / IN_ROUND
    const now = process.cpuUsage()
    if (round < 0) continue
    times[name].push(milliseconds)
    cpu[name].push((now.user + now.system - user - system) / IN_ROUND / 1_000)
  }

const median = (list: readonly number[]) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? NaN
const rounded = (value: number) => Number(value.toFixed(3))
const all = (figures: Record<Way, number[]>) => {
  const [one, two, publish] = [median(figures.one), median(figures.two), median(figures.publish)]
  return { one: rounded(one), two: rounded(two), publish: rounded(publish), ofTwo: rounded(publish / two) }
}
console.log(JSON.stringify({ milliseconds: all(times), millisecondsOfCpu: all(cpu) }))

/** Commits a second. */
async function rateOf(writers: number, seconds: number, commit: (number: number) => Promise<unknown>): Promise<number> {
  const end = performance.now() + seconds * 1_000
  let count = 0
  const write = async () => {
    while (performance.now() < end) await commit(count++)
  }
  await Promise.all(Array.from({ length: writers }, write))
  return Math.round(count / seconds)
}

/** One connection, without the framework: BEGIN, INSERT and COMMIT one after the other, and INSERT alone, which is one message. */
const plainInsert = (number: number) =>
  database.sequelize.query('INSERT INTO entry (number, name) VALUES (:number, :name)', {
    replacements: row(number),
    type: QueryTypes.INSERT,
  })
const oneTopic: number[] = []
const ownTopics: number[] = []
const oneConnection: number[] = []
const plain: number[] = []
for (let round = 0; round < 5; round++) {
  oneConnection.push(await rateOf(1, 2, ways.one))
  plain.push(await rateOf(1, 2, plainInsert))
  oneTopic.push(await rateOf(WRITERS, 2, ways.publish))
  ownTopics.push(
    await rateOf(WRITERS, 2, (number) =>
      inSession(async (session) => {
        await insert(session, row(number))
        feedsOf(session).publish(Entered, row(number), { topic: `bench ${number % WRITERS}` })
      }),
    ),
  )
}
const [topic, connection] = [median(oneTopic), median(oneConnection)]
console.log(
  JSON.stringify({
    commitsPerSecond: {
      oneTopic: topic,
      topicsOfTheirOwn: median(ownTopics),
      oneConnection: connection,
      oneConnectionWithoutSession: median(plain),
      ofOneConnection: rounded(topic / connection),
    },
  }),
)
await app.close()
