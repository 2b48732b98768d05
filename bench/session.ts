// What a session costs: one statement in a transaction, by Sequelize's own sequelize.transaction and by a session.
//   npm run build && node --import tsx --import sequitur/register bench/session.ts [rounds] [seconds]
// It measures what is built: tsx adds work of its own to every function of the source.
// Rounds are interleaved; read the ratio of CPU, not the milliseconds.
import { type CreationOptional, DataTypes, QueryTypes, Sequelize } from 'sequelize'
import { Column, DataType, Sequelize as ClassSequelize, Table } from 'sequelize-typescript'
import { Base, newLifespan, sql, withSession } from 'sequitur'
import { startPostgres } from '../test/support/postgres-server.js'

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare age: CreationOptional<number>
}

const [rounds = 5, seconds = 3] = process.argv.slice(2).map(Number)
const CLIENTS = 32
const ROWS = 10_000

interface Measured {
  readonly perSecond: number
  /** Microseconds of CPU of this process for each piece of work. */
  readonly cpu: number
}

async function measure(work: () => Promise<unknown>): Promise<Measured> {
  const [until, before, start] = [performance.now() + seconds * 1000, process.cpuUsage(), performance.now()]
  let done = 0
  const client = async () => {
    while (performance.now() < until) {
      await work()
      done++
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  const { user, system } = process.cpuUsage(before)
  return { perSecond: (done * 1000) / (performance.now() - start), cpu: (user + system) / done }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN
}

const anyId = () => 1 + Math.floor(Math.random() * ROWS)

async function compare(name: string, variants: Readonly<Record<string, () => Promise<unknown>>>): Promise<void> {
  const measured = new Map<string, Measured[]>(Object.keys(variants).map((variant) => [variant, []]))
  for (const work of Object.values(variants)) await measure(work)
  for (let round = 0; round < rounds; round++) {
    for (const [variant, work] of Object.entries(variants)) measured.get(variant)?.push(await measure(work))
  }
  const [first] = measured.values()
  const base = median((first ?? []).map(({ cpu }) => cpu))
  for (const [variant, list] of measured) {
    const cpu = median(list.map((one) => one.cpu))
    const perSecond = median(list.map((one) => one.perSecond))
    console.log(
      `${name.padEnd(24)} ${variant.padEnd(10)} ${cpu.toFixed(0).padStart(6)} us CPU ${perSecond.toFixed(0).padStart(7)}/s   CPU ratio ${(cpu / base).toFixed(2)}`,
    )
  }
}

const server = await startPostgres()
const { hostname: host, port, username, password } = new URL(server.url)
const database = newLifespan(server.url, { models: [Hero], sync: true, poolTimeout: 60_000 })
await database.start()
await withSession(database, () =>
  Hero.bulkCreate(Array.from({ length: ROWS }, (_, n) => ({ name: `hero ${n}`, age: n % 90 }))),
)

const options = {
  dialect: 'postgres',
  host,
  port: Number(port),
  username,
  password,
  database: 'postgres',
  logging: false,
  pool: { max: 10, acquire: 60_000 },
} as const
const stock = new Sequelize(options)
const StockHero = stock.define(
  'hero',
  {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    name: { type: DataTypes.STRING, allowNull: false },
    age: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 0 },
  },
  { tableName: 'hero', timestamps: false },
)

class ClassHero extends Hero {}
const classes = new ClassSequelize({ ...options, models: [ClassHero] })

let serial = 0
const newName = () => `new ${serial++}`

await compare('nothing', {
  stock: () => stock.transaction(async () => {}),
  session: () => withSession(database, async () => {}),
})
await compare('one by key', {
  stock: () => stock.transaction((transaction) => StockHero.findByPk(anyId(), { transaction })),
  classes: () => classes.transaction((transaction) => ClassHero.findByPk(anyId(), { transaction })),
  session: () => withSession(database, (session) => session.get(Hero, anyId())),
})
const text = 'SELECT id, name, age FROM hero WHERE id = '
await compare('one by text', {
  stock: () =>
    stock.transaction((transaction) =>
      stock.query(`${text}$1`, { bind: [anyId()], type: QueryTypes.SELECT, transaction }),
    ),
  session: () =>
    withSession(database, (session) => session.execute(sql`SELECT id, name, age FROM hero WHERE id = ${anyId()}`)),
})
await compare('insert', {
  stock: () => stock.transaction((transaction) => StockHero.create({ name: newName() }, { transaction })),
  classes: () => classes.transaction((transaction) => ClassHero.create({ name: newName() }, { transaction })),
  session: () => withSession(database, () => Hero.create({ name: newName() })),
})

await stock.close()
await classes.close()
await database.stop()
await server.stop()
