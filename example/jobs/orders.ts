import { Field, select, Session, sql, withSession } from 'sequitur'
import { Attempt, Cron, Job, Jobs, jobsOf } from 'sequitur/jobs'
import { Order } from './order.js'
import { Bank } from './bank.js'

class OrderPaid {
  @Field({ type: 'integer' }) order_id!: number
  @Field() account!: string
}

export class OrderJobs {
  /** Two at once for each account, in all processes together. */
  @Job({
    name: 'order.charge',
    queue: 'bank',
    timeout: 60_000,
    limit: { by: (input: OrderPaid) => input.account, at: 2 },
  })
  async charge({ order_id }: OrderPaid, bank: Bank, attempt: Attempt, signal: AbortSignal) {
    // Its result is kept: if the job fails later, the bank is not asked again.
    const { receipt } = await attempt.step('charge', async (step) => {
      const order = (await step.get(Order, order_id)) ?? attempt.discard('The order is gone')
      if (order.receipt) attempt.discard('Another job has charged it') // its key was free again
      return bank.charge(order_id, { key: attempt.key, signal })
    })
    await Order.update({ receipt }, { where: { id: order_id } })
  }

  @Cron('0 3 * * *', { timezone: 'Europe/Berlin' })
  async forget(session: Session) {
    await session.execute(sql`DELETE FROM orders WHERE receipt IS NULL AND age > 30`)
  }

  /** It waits for the bank for a long time: no transaction is open meanwhile. Each order is then charged by a job of its own. */
  @Cron('30 * * * *', { timeout: 600_000 })
  async reconcile(bank: Bank, attempt: Attempt, jobs: Jobs) {
    const paid = await attempt.step('ask', () => bank.paidOrders())
    for (const { id, account } of await Order.findAll({ where: { id: paid, receipt: null } }))
      await jobs.add(OrderJobs, 'charge', { order_id: id, account }, { key: `order ${id}`, delay: 1_000 })
  }
}

/** Outside of requests and jobs. */
export async function chargeAll(): Promise<void> {
  await withSession(async (session) => {
    for (const { id, account } of await session.all(select(Order, { where: { receipt: null } })))
      await jobsOf(session).add(OrderJobs, 'charge', { order_id: id, account }, { key: `order ${id}` })
  })
}
