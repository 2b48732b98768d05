import cors from 'cors'
import { type AppOptions, type Database, newLifespan } from 'sequitur'
import { settings } from 'sequitur/settings'
import { ArticleController, TagController } from './articles.js'
import { ConduitSettings } from './auth.js'
import { defaultUrl } from './database.js'
import { format } from './errors.js'
import { MailJobs } from './mail.js'
import { models } from './models.js'
import { ProfileController, UserController } from './users.js'

/** Reads `TOKEN_SECRET`, `SMTP_URL`, and `toolkit_url` for the database. */
export const appOptions = (lifespan: Database = newLifespan(undefined, { defaultUrl })): AppOptions => ({
  prefix: '/api',
  // Tokens are in a header, which no browser sends by itself: any site may ask.
  middleware: [cors({ exposedHeaders: ['Retry-After'] })],
  controllers: [UserController, ProfileController, ArticleController, TagController],
  models,
  lifespan,
  jobs: [MailJobs],
  work: { mail: 2 },
  providers: [settings(ConduitSettings)],
  unknownFields: 'ignore',
  errors: { format },
  info: { title: 'Conduit', description: 'The API of RealWorld: https://docs.realworld.build' },
})
