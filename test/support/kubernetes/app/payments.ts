import { Controller, Get, Item, Page, Paginate, Post, dto, reply, select } from 'sequitur'
import { Idempotent } from 'sequitur/idempotency'
import { hostname } from 'node:os'
import { Payment } from './payment.js'

class NewPayment extends dto(Payment, { omit: ['id'] }) {}

@Controller('/payments')
export class PaymentController {
  @Get('/', Page.of(Payment))
  list(paginate: Paginate<Payment>) {
    return paginate(select(Payment, { order: ['id'] }))
  }

  /** The accounts of all payments, of one that was made twice twice. */
  @Get('/accounts')
  async accounts() {
    const rows = await Payment.findAll({ attributes: ['account'], raw: true })
    return rows.map(({ account }) => account)
  }

  @Idempotent()
  @Post('/', Item.of(Payment))
  async pay(input: NewPayment) {
    return reply({ data: await Payment.create({ ...input }) }, { headers: { 'x-pod': hostname() } })
  }
}
