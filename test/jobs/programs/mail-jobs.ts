import { setTimeout as wait } from 'node:timers/promises'
import { Field, Session, sql } from 'sequitur'
import { Attempt, Job } from 'sequitur/jobs'

export class Mail {
  @Field({ type: 'integer' }) number!: number
  @Field({ default: 0 }) milliseconds!: number
}

export class MailJobs {
  @Job({ name: 'mail.send', queue: 'mail' })
  async send({ number, milliseconds }: Mail, session: Session) {
    console.log(`sends ${number}`)
    await wait(milliseconds)
    await session.execute(sql`INSERT INTO effect (number) VALUES (${number})`)
  }

  @Job({ name: 'mail.refuse' })
  refuse(attempt: Attempt) {
    attempt.discard('not wanted')
  }
}
