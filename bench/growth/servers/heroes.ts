// An app with one table, and all that is asked of a table. With more than one process, this one has started the others.
import cluster from 'node:cluster'
import { once } from 'node:events'
import { type CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  createApp,
  Field,
  Get,
  Item,
  newLifespan,
  newPagination,
  notFound,
  Page,
  Post,
  select,
  Session,
  UncountedPage,
} from 'sequitur'
import { CursorPage, newCursorPagination } from 'sequitur/cursor'
import { parameters, patient, report } from './serve.js'

const [url = '', poolSize = '10', processes = '1'] = parameters
const MOST = 50_000

// The index of the order of the pages, with the key, which makes it an order of single rows.
@Table({ tableName: 'hero', timestamps: false, indexes: [{ fields: ['age', 'id'] }] })
class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
  @Column({ type: DataType.STRING(40), allowNull: false }) declare name: string
}
class NewHero {
  @Field({ type: 'integer' }) age!: number
  @Field({ maxLength: 40 }) name!: string
}
class Counted<T> extends newPagination({ maxPageSize: MOST })<T> {}
class Uncounted<T> extends newPagination({ maxPageSize: MOST, count: false })<T> {}
class ByCursor<T> extends newCursorPagination({ maxPageSize: MOST })<T> {}
const list = select(Hero, { order: ['age'] })

@Controller('/')
class Heroes {
  @Get('/counted', Page.of(Hero)) counted(paginate: Counted<Hero>) {
    return paginate(list)
  }
  @Get('/uncounted', UncountedPage.of(Hero)) uncounted(paginate: Uncounted<Hero>) {
    return paginate(list)
  }
  @Get('/cursor', CursorPage.of(Hero)) cursor(paginate: ByCursor<Hero>) {
    return paginate(list)
  }
  @Get('/heroes/:id', Item.of(Hero)) async get(id: number, session: Session) {
    return { data: (await session.get(Hero, id)) ?? notFound('There is no such hero.') }
  }
  @Post('/heroes', Item.of(Hero)) async create(body: NewHero, session: Session) {
    const hero = session.add(Hero.build(body))
    await session.flush()
    return { data: hero }
  }
}

async function listen(port: number): Promise<number> {
  const lifespan = newLifespan(url, {
    models: [Hero],
    sync: cluster.isPrimary,
    poolSize: Number(poolSize),
    ...patient.database,
  })
  const app = createApp({
    controllers: [Heroes],
    lifespan,
    cursorSecret: 'the same in all processes',
    ...patient.app,
  })
  return (await app.listen(port)).port
}

if (cluster.isWorker) await listen(Number(parameters[3]))
else if (processes === '1') report(await listen(0))
else {
  const port = 20_000 + Math.floor(Math.random() * 10_000)
  cluster.setupPrimary({ args: [url, poolSize, processes, String(port)] })
  const workers = Array.from({ length: Number(processes) }, () => cluster.fork())
  await Promise.all(workers.map((worker) => once(worker, 'listening')))
  report(port)
}
