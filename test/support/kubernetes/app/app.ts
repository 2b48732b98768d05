import { createApp } from 'sequitur'
import { IdempotencyRecord } from 'sequitur/idempotency'
import { database } from './database.js'
import { PaymentController } from './payments.js'

export const app = createApp({
  controllers: [PaymentController],
  models: [IdempotencyRecord],
  lifespan: database,
  health: true,
  timeouts: { shutdownDelay: Number(process.env['SHUTDOWN_DELAY'] ?? 0), drain: 20_000 }, // milliseconds
})
