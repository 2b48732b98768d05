import { createHash, timingSafeEqual } from 'node:crypto'
import { type AppOptions, Header, Injectable, Security, unauthorized } from 'sequitur'
import { JobRecord, jobsController } from 'sequitur/jobs'
import { Order } from './order.js'
import { OrderJobs } from './orders.js'

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Who knows `OPERATOR_TOKEN`; no one if it is not set. */
@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
class Operator {
  constructor(@Header({ optional: true }) authorization: string = '') {
    const token = process.env['OPERATOR_TOKEN']
    const isKnown = token && timingSafeEqual(digest(authorization), digest(`Bearer ${token}`))
    if (!isKnown) unauthorized('Operators only', { headers: { 'www-authenticate': 'Bearer' } })
  }
}

export const options: AppOptions = {
  controllers: [jobsController({ requires: [Operator] })],
  models: [Order, JobRecord],
  jobs: [OrderJobs],
}
