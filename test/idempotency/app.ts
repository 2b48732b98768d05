import { randomUUID } from 'node:crypto'
import {
  Base,
  conflict,
  Controller,
  Field,
  file,
  Get,
  guard,
  Header,
  Injectable,
  Item,
  Post,
  Patch,
  Query,
  reply,
  Security,
  Session,
  Transactional,
  unauthorized,
} from 'sequitur'
import { Idempotent, IdempotencyRecord } from 'sequitur/idempotency'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

/*
 * Payments, for the tests of this folder. Each row of the table is an effect of a handler.
 */

@Table({ tableName: 'payment', timestamps: false })
export class Payment extends Base<Payment> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare account: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare amount: number
}

export class NewPayment {
  @Field() account!: string
  @Field({ type: 'integer', minimum: 1 }) amount!: number
}

@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
export class Caller {
  readonly name: string

  constructor(@Header({ optional: true }) authorization?: string) {
    this.name = authorization?.replace('Bearer ', '') ?? unauthorized('Log in first')
  }
}

const payers = guard([Caller], ({ name }) => name !== 'guest')

/** What a test may do while a handler runs. */
export const during: { pay: () => unknown } = { pay: () => {} }

@Controller('/payments')
export class PaymentController {
  @Idempotent()
  @Post('/', Item.of(Payment))
  async pay(input: NewPayment) {
    const data = await Payment.create({ ...input })
    await during.pay()
    const cookies = [`a=${randomUUID()}`, 'b=2']
    const headers = { location: `/payments/${data.id}`, 'set-cookie': cookies, 'x-place': 'café' }
    return reply({ data }, { headers })
  }

  @Idempotent({ expiresAfter: 1_800_000 })
  @Post('/brief', Item.of(Payment))
  async brief(input: NewPayment) {
    return { data: await Payment.create({ ...input }) }
  }

  @Idempotent()
  @Patch('/:id', Item.of(Payment))
  async change(id: number, input: NewPayment, @Query({ optional: true }) by?: string) {
    return { data: await Payment.create({ ...input, account: `${input.account} ${id} ${by}` }) }
  }

  @Idempotent()
  @Post('/queued')
  queued(session: Session) {
    session.add(Payment.build({ account: 'queued', amount: 1 }))
    void Payment.create({ account: 'not awaited', amount: 2 })
  }

  @Idempotent()
  @Post('/secured', Item.of(Payment), { requires: [payers] })
  async secured(input: NewPayment, caller: Caller) {
    return { data: await Payment.create({ ...input, account: caller.name }) }
  }

  @Idempotent({ required: false, of: ({ headers }) => String(headers['x-client']) })
  @Post('/optional', Item.of(Payment))
  async optional(input: NewPayment) {
    return { data: await Payment.create({ ...input }) }
  }

  @Idempotent()
  @Post('/refused')
  async refused(input: NewPayment) {
    await Payment.create({ ...input })
    conflict('The account is closed')
  }

  @Idempotent()
  @Post('/rolled-back', Item.of(NewPayment))
  async rolledBack(input: NewPayment, session: Session) {
    await Payment.create({ ...input })
    session.rollback()
    return { data: input }
  }

  @Idempotent()
  @Post('/nested', Item.of(NewPayment))
  async nested(input: NewPayment, session: Session) {
    await session.nested(() => Payment.create({ ...input }))
    const undone = session.nested(async () => {
      await Payment.create({ ...input })
      throw new Error('undone')
    })
    await undone.catch(() => {})
    return { data: input }
  }

  @Idempotent()
  @Transactional({ isolation: 'serializable', retry: 20 })
  @Post('/retried', Item.of(NewPayment))
  async retried(input: NewPayment) {
    const amount = (await Payment.count()) + 1 // of transactions that run at once, one can commit what depends on this
    await Payment.create({ ...input, amount })
    return { data: { ...input, amount } }
  }

  @Idempotent({ responseLimit: 1_000 })
  @Post('/bytes/:size', { produces: 'application/octet-stream' })
  async bytes(size: number) {
    await Payment.create({ account: 'bytes', amount: size })
    return file(Buffer.alloc(size, 0xff), { type: 'application/octet-stream' })
  }

  @Idempotent()
  @Post('/file', { produces: 'text/plain' })
  async file() {
    await Payment.create({ account: 'file', amount: 1 })
    return file('package.json', { type: 'text/plain' })
  }

  @Get('/count') count() {
    return Payment.count()
  }
}

export const models = [Payment, IdempotencyRecord] as const
