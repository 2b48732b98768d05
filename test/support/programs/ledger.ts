import {
  Base,
  Controller,
  createApp,
  dto,
  Field,
  Get,
  Item,
  newLifespan,
  notFound,
  Patch,
  Post,
  select,
  Session,
} from 'sequitur'
import { IfMatch } from 'sequitur/conditional'
import { CursorPage, newCursorPagination } from 'sequitur/cursor'
import { Idempotent, IdempotencyRecord } from 'sequitur/idempotency'
import { type CreationOptional, literal, Op } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

/*
 * What clients use while they are cut off. The database knows nothing of the reference of a payment: one that is made twice is two rows.
 */

@Table({ tableName: 'payment', timestamps: false })
class Payment extends Base<Payment> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(40), allowNull: false }) declare reference: string
}

/** Rows with an even rank stay. */
@Table({ tableName: 'ranked', timestamps: false, indexes: [{ fields: ['rank', 'id'] }] })
class Ranked extends Base<Ranked> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER, allowNull: false }) declare rank: number
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare changes: CreationOptional<number>
}

@Table({ tableName: 'counter', timestamps: false, version: true })
class Counter extends Base<Counter> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare value: CreationOptional<number>
}

class NewPayment extends dto(Payment, { pick: ['reference'] }) {}
class NewValue {
  @Field({ type: 'integer' }) value!: number
}
class Count {
  @Field({ type: 'integer' }) count!: number
}

class Pages<T> extends newCursorPagination({ maxPageSize: 1_000 })<T> {}

@Controller('/payments')
class PaymentController {
  @Get('/', [Payment])
  list() {
    return Payment.findAll()
  }

  @Idempotent()
  @Post('/', Item.of(Payment))
  async create(input: NewPayment) {
    return { data: await Payment.create({ ...input }) }
  }
}

@Controller('/ranked')
class RankedController {
  @Get('/', CursorPage.of(Ranked))
  list(paginate: Pages<Ranked>) {
    return paginate(select(Ranked, { order: ['rank', 'id'] }))
  }

  @Post('/', { status: 204 })
  async fill({ count }: Count) {
    await Ranked.bulkCreate(Array.from({ length: count }, (_, index) => ({ rank: 2 * index })))
  }

  /** Rows with an odd rank come and go, and one of the others changes. */
  @Post('/changes', { status: 204 })
  async change({ count }: Count) {
    const anywhere = () => Math.floor(Math.random() * count)
    const odd = { [Op.and]: [literal('rank % 2 = 1')] }
    await Ranked.bulkCreate(Array.from({ length: 20 }, () => ({ rank: 2 * anywhere() + 1 })))
    await Ranked.destroy({ where: { ...odd, rank: { [Op.lte]: 2 * anywhere() } } })
    await Ranked.increment('changes', { where: { rank: 2 * anywhere() } })
  }
}

@Controller('/counters')
class CounterController {
  @Post('/', Item.of(Counter))
  async create() {
    return { data: await Counter.create({}) }
  }

  @Get('/:counter_id', Item.of(Counter, { etag: true }))
  async get(counter_id: number, session: Session) {
    return { data: (await session.get(Counter, counter_id)) ?? notFound('Counter not found') }
  }

  @Patch('/:counter_id', Item.of(Counter, { etag: true }))
  async change(counter_id: number, input: NewValue, ifMatch: IfMatch) {
    return { data: (await ifMatch.update(Counter, counter_id, input)) ?? notFound('Counter not found') }
  }
}

export const app = createApp({
  controllers: [PaymentController, RankedController, CounterController],
  models: [Payment, Ranked, Counter, IdempotencyRecord],
  lifespan: newLifespan(undefined, { sync: true }),
})
await app.listen(0)
