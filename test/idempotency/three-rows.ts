import { setTimeout as wait } from 'node:timers/promises'
import { Controller, Post, Session } from 'sequitur'
import { Idempotent } from 'sequitur/idempotency'
import { NewPayment, Payment } from './app.js'

/** Payments of three rows each, by statements of different kinds: a part of a payment would be noticed. */
@Controller('/payments')
export class ThreeRowsController {
  @Idempotent()
  @Post('/')
  async pay(input: NewPayment, session: Session) {
    const { id } = await Payment.create({ ...input })
    await wait(Math.random() * 5)
    await session.nested(() => Payment.create({ account: `fee of ${input.account}`, amount: 1 }))
    session.add(Payment.build({ account: `tax of ${input.account}`, amount: 1 }))
    return { id }
  }
}
