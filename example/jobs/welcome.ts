import { Controller, createApp, Field, Item, newLifespan, Post, Session } from 'sequitur'
import { Attempt, Job, JobRecord, Jobs } from 'sequitur/jobs'
import { Account, NewAccount } from './account.js'

class Welcome {
  @Field({ type: 'integer' }) account_id!: number
}

class MailJobs {
  @Job({ name: 'mail.welcome', queue: 'mail' })
  async welcome({ account_id }: Welcome, session: Session, attempt: Attempt) {
    const account = (await session.get(Account, account_id)) ?? attempt.discard('The account is gone')
    console.log(`To ${account.email}: Welcome! (${attempt.key})`)
    await account.update({ welcomed: true }) // once, in the commit that ends the job
  }
}

@Controller('/accounts')
class AccountController {
  @Post('/', Item.of(Account))
  async create(input: NewAccount, jobs: Jobs) {
    const account = await Account.create({ ...input })
    await jobs.add(MailJobs, 'welcome', { account_id: account.id }) // exists if the account does
    return { data: account }
  }
}

const app = createApp({
  controllers: [AccountController],
  models: [Account, JobRecord],
  jobs: [MailJobs],
  work: { mail: 5 },
  lifespan: newLifespan(undefined, { defaultUrl: 'sqlite+sqlite3:///./accounts.sqlite', sync: true }),
})
await app.listen(Number(process.env['PORT'] ?? 8000))
