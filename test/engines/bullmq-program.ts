import { Queue, UnrecoverableError, Worker } from 'bullmq'
import express from 'express'
import { Account } from './account.js'
import { mailer } from './mailer.js'

const connection = { host: '127.0.0.1', port: 6379, maxRetriesPerRequest: null }
const backoff = { type: 'exponential', delay: 5_000 }
const queue = new Queue('example-mail', {
  connection,
  defaultJobOptions: { attempts: 10, backoff, removeOnComplete: true },
})
await queue.upsertJobScheduler('tidy', { pattern: '0 3 * * *', tz: 'Europe/Berlin' }, { name: 'tidy' })

const worker = new Worker(
  'example-mail',
  async (job) => {
    if (job.name === 'tidy') return Account.destroy({ where: { welcomed: false } })
    const account = await Account.findByPk(job.data.account_id)
    if (!account) throw new UnrecoverableError('The account is gone')
    await mailer.send(account.email, 'Welcome!', `mail-${job.id}`)
    return account.update({ welcomed: true })
  },
  { connection, concurrency: 5 },
)

const app = express().use(express.json())
app.post('/accounts', async (request, response) => {
  const account = await Account.create({ email: request.body.email })
  await queue.add('welcome', { account_id: account.id }, { jobId: `welcome-${account.id}` })
  response.status(201).json({ data: account })
})
const server = app.listen(Number(process.env['PORT'] ?? 8000))
process.once('SIGTERM', () => server.close(() => Promise.all([worker.close(), queue.close()])))
