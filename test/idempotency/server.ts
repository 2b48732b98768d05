// An app of payments that a test kills. Its database is the environment's; it sends its address to the process that has started it.
import { setTimeout as wait } from 'node:timers/promises'
import { Controller, createApp, newLifespan, Post, Session } from 'sequitur'
import { Idempotent, IdempotencyRecord } from 'sequitur/idempotency'
import { NewPayment, Payment } from './app.js'

@Controller('/payments')
class PaymentController {
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

const app = createApp({
  controllers: [PaymentController],
  models: [Payment, IdempotencyRecord],
  lifespan: newLifespan(undefined, { sync: process.argv.includes('--sync') }),
  logger: false,
})
const { url } = await app.listen(0)
process.send?.(url)
