// An app with so many models of five columns, each with a row that a route reads. With `sync` it creates the tables.
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, Get, Item, newLifespan, notFound, Session } from 'sequitur'
import { parameters, patient, report } from './serve.js'

const [url = '', count, sync] = parameters

function controllerOf(number: number) {
  @Table({ modelName: `Thing${number}`, tableName: `thing_${number}`, timestamps: false })
  class Thing extends Base<Thing> {
    static {
      Object.defineProperty(this, 'name', { value: `Thing${number}`, configurable: true }) // of its schema in the OpenAPI document
    }
    @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
    @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare age: number
    @Column({ type: DataType.STRING(40), allowNull: false, defaultValue: 'a name' }) declare name: string
    @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: true }) declare open: boolean
    @Column({ type: DataType.DATE, allowNull: true }) declare ended: Date | null
  }

  @Controller(`/things${number}`)
  class Things {
    static {
      Object.defineProperty(this, 'name', { value: `Things${number}` })
    }
    @Get('/:id', Item.of(Thing)) async get(id: number, session: Session) {
      return { data: (await session.get(Thing, id)) ?? notFound('There is no such thing.') }
    }
  }
  return { model: Thing, controller: Things }
}

const parts = Array.from({ length: Number(count) }, (_, number) => controllerOf(number))
const models = parts.map(({ model }) => model)
const lifespan = newLifespan(url, { models, sync: sync === 'sync', ...patient.database })
const app = createApp({ controllers: parts.map(({ controller }) => controller), lifespan, ...patient.app })
report((await app.listen(0)).port)
