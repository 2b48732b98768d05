import { Controller, createApp, lifespan, Post } from 'sequitur'
import { JobRecord, Jobs } from 'sequitur/jobs'
import { Effect } from '../ledger.js'
import { Mail, MailJobs } from './mail-jobs.js'

/* A program with jobs. Its module listens, unless a command has loaded it. */

@Controller('/mails')
class MailController {
  @Post()
  async create(mail: Mail, jobs: Jobs) {
    await jobs.add(MailJobs, 'send', mail)
  }
}

const app = createApp({
  controllers: [MailController],
  models: [Effect, JobRecord],
  jobs: [MailJobs],
  lifespan,
  ...(process.env['WORK'] && { work: { mail: Number(process.env['WORK']) } }),
})
await app.listen(0)
