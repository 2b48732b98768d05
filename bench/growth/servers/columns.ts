// An app with a table of so many columns, integers and texts in turns.
import { type CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import {
  Base,
  Controller,
  createApp,
  dto,
  Get,
  Item,
  newLifespan,
  newPagination,
  notFound,
  Post,
  select,
  Session,
  UncountedPage,
} from 'sequitur'
import { parameters, patient, report } from './serve.js'

const [url = '', count] = parameters

@Table({ tableName: 'wide', timestamps: false })
class Wide extends Base<Wide> {
  static {
    for (let number = 0; number < Number(count); number++) {
      const type = number % 2 === 0 ? DataType.INTEGER : DataType.STRING(40)
      Column({ type, allowNull: false })(this.prototype, `column_${number}`)
    }
  }
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
}
class NewWide extends dto(Wide, { omit: ['id'] }) {}
class Uncounted<T> extends newPagination({ count: false })<T> {}

@Controller('/wide')
class WideController {
  @Get('/', UncountedPage.of(Wide)) list(paginate: Uncounted<Wide>) {
    return paginate(select(Wide))
  }
  @Get('/:id', Item.of(Wide)) async get(id: number, session: Session) {
    return { data: (await session.get(Wide, id)) ?? notFound('There is no such row.') }
  }
  @Post('/', Item.of(Wide)) async create(body: NewWide, session: Session) {
    const row = session.add(Wide.build(body))
    await session.flush()
    return { data: row }
  }
}

const app = createApp({
  controllers: [WideController],
  lifespan: newLifespan(url, { models: [Wide], sync: true, ...patient.database }),
  ...patient.app,
})
report((await app.listen(0)).port)
