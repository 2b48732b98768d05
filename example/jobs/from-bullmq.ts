import { Controller, createApp, Field, Injectable, Item, newLifespan, Post, Session } from 'sequitur'
import { Attempt, Cron, Job, JobRecord, Jobs } from 'sequitur/jobs'
import { Account } from '../recipes/welcome.js'

class NewAccount {
  @Field({ format: 'email', maxLength: 200 }) email!: string
}
class Welcome {
  @Field({ type: 'integer' }) account_id!: number
}

@Injectable()
class Mailer {
  async send(to: string, text: string, key: string) {
    console.log(`To ${to}: ${text} (${key})`)
  }
}

class MailJobs {
  @Job({ name: 'mail.welcome', queue: 'mail' })
  async welcome({ account_id }: Welcome, session: Session, mailer: Mailer, attempt: Attempt) {
    const account = (await session.get(Account, account_id)) ?? attempt.discard('The account is gone')
    await mailer.send(account.email, 'Welcome!', attempt.key)
    await account.update({ welcomed: true })
  }

  @Cron('0 3 * * *', { queue: 'mail', timezone: 'Europe/Berlin' })
  async tidy() {
    await Account.destroy({ where: { welcomed: false } })
  }
}

@Controller('/accounts')
class AccountController {
  @Post('/', Item.of(Account))
  async create(input: NewAccount, jobs: Jobs) {
    const account = await Account.create({ ...input })
    await jobs.add(MailJobs, 'welcome', { account_id: account.id }, { key: `welcome-${account.id}` })
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
