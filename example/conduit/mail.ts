import { createTransport } from 'nodemailer'
import { Field, Injectable, Session } from 'sequitur'
import { Attempt, Job } from 'sequitur/jobs'
import { ConduitSettings } from './auth.js'
import { User } from './models.js'

interface Mail {
  readonly id: string
  readonly to: string
  readonly subject: string
  readonly text: string
}

/** Sends mail by the server of `SMTP_URL`; without one, it is only printed. */
@Injectable({ lifetime: 'application' })
export class Mailer {
  readonly #transport

  constructor({ smtpUrl }: ConduitSettings) {
    this.#transport = smtpUrl === undefined ? undefined : createTransport(smtpUrl)
  }

  async send({ id, ...mail }: Mail): Promise<void> {
    if (!this.#transport) return console.info(`To ${mail.to}: ${mail.subject}`)
    // Servers and readers of mail drop a message whose id they have seen.
    await this.#transport.sendMail({ ...mail, from: 'conduit@example.com', messageId: `<${id}@conduit.example.com>` })
  }

  [Symbol.dispose](): void {
    this.#transport?.close()
  }
}

class Welcome {
  @Field({ type: 'integer' }) user_id!: number
}

export class MailJobs {
  /** Runs if the registration was committed, and only then. */
  @Job({ name: 'mail.welcome', queue: 'mail' })
  async welcome({ user_id }: Welcome, session: Session, mailer: Mailer, attempt: Attempt) {
    const { email, username } = (await session.get(User, user_id)) ?? attempt.discard('The user is gone')
    const text = `Hello ${username}, you can write your first article now.`
    await mailer.send({ id: attempt.key, to: email, subject: 'Welcome to Conduit', text })
    await User.update({ welcomed: true }, { where: { id: user_id } })
  }
}
