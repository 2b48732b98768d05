import { Controller, createApp, Field, Get, Injectable } from 'sequitur'
import { settings } from 'sequitur/settings'

export class Settings {
  @Field({ minLength: 10 }) mailKey!: string
  @Field({ type: 'integer', default: 3 }) mailRetries!: number
  @Field({ type: [String], default: [] }) admins!: string[]
}

@Injectable()
class Mailer {
  constructor(private readonly settings: Settings) {}
  describe() {
    return `${this.settings.mailRetries} retries, ${this.settings.admins.length} admins`
  }
}

@Controller('/mailer')
class MailerController {
  @Get() describe(mailer: Mailer) {
    return mailer.describe()
  }
}

// Reads MAIL_KEY, MAIL_RETRIES and ADMINS.
export const newApp = () => createApp({ controllers: [MailerController], providers: [settings(Settings)] })
