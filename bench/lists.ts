// What a page costs whose rows are sent as they were read, and one whose rows were built into instances because the handler looked at them.
//   npm run build && node --import tsx --import sequitur/register bench/lists.ts [rounds]
// Rounds are interleaved; read the ratio of CPU, not the microseconds.
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Get, newLifespan, Page, Paginate, select } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { benchDatabases, type BenchDatabase } from './databases.js'

const ROUNDS = Number(process.argv[2] ?? 60)
const REQUESTS = 40

@Table({ tableName: 'hero', timestamps: false })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
  @Column({ type: DataType.STRING(40), allowNull: false }) declare name: string
  @Column({ type: DataType.STRING(40), allowNull: false }) declare secret_identity: string
  @Column({ type: DataType.BOOLEAN, allowNull: false }) declare alive: boolean
  @Column({ type: DataType.DATE(6), allowNull: false }) declare born: Date
}

const list = select(Hero, { order: [['age', 'DESC'], 'name'] })

@Controller('/')
class Heroes {
  @Get('/offset/rows', Page.of(Hero)) rows(paginate: Paginate<Hero>) {
    return paginate(list)
  }
  @Get('/offset/instances', Page.of(Hero)) async instances(paginate: Paginate<Hero>) {
    return { ...(await paginate(list)) }
  }
  @Get('/cursor/rows', CursorPage.of(Hero)) cursorRows(paginate: CursorPaginate<Hero>) {
    return paginate(list)
  }
  @Get('/cursor/instances', CursorPage.of(Hero)) async cursorInstances(paginate: CursorPaginate<Hero>) {
    return { ...(await paginate(list)) }
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] as number
}

async function measure({ name, url }: BenchDatabase): Promise<void> {
  const lifespan = newLifespan(url, { sync: true })
  const app = createApp({ controllers: [Heroes], models: [Hero], lifespan, logger: false })
  await app.start()
  const heroes = Array.from({ length: 100 }, (_, id) => ({
    id,
    age: id % 7,
    name: `hero ${id}`,
    secret_identity: `man ${id}`,
    alive: id % 2 === 0,
    born: new Date(1e12 + id),
  }))
  await Hero.bulkCreate(heroes)
  /** Microseconds of CPU of this process for each request. */
  const cpuOf = async (path: string) => {
    const before = process.cpuUsage()
    for (let request = 0; request < REQUESTS; request++) {
      const { statusCode, body } = await app.inject(path)
      if (statusCode !== 200) throw new Error(body)
    }
    const { user, system } = process.cpuUsage(before)
    return (user + system) / REQUESTS
  }
  for (const style of ['offset', 'cursor'])
    for (const limit of [10, 100]) {
      const [rows, instances] = [`/${style}/rows?limit=${limit}`, `/${style}/instances?limit=${limit}`]
      const measured: [number, number][] = []
      for (let round = 0; round < ROUNDS; round++) measured.push([await cpuOf(rows), await cpuOf(instances)])
      const counted = measured.slice(ROUNDS / 4) // until the program is compiled
      const [asRows, asInstances] = [median(counted.map(([one]) => one)), median(counted.map(([, other]) => other))]
      const ratio = median(counted.map(([one, other]) => one / other))
      console.log(
        `${name.padEnd(12)} ${style}, ${String(limit).padStart(3)} rows   instances ${asInstances.toFixed(0).padStart(5)} us CPU   rows ${asRows.toFixed(0).padStart(5)} us CPU   ratio ${ratio.toFixed(2)}`,
      )
    }
  await app.close()
}

for (const database of await benchDatabases()) await measure(database)
