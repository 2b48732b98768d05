import compression from 'compression'
import cors from 'cors'
import helmet from 'helmet'
import { createApp } from 'sequitur'
import { database } from '../database.js'
import { AnswerController } from './answers.js'
import { audit, AuditedController } from './audit.js'
import { PowerController } from './one-of.js'
import { SearchController } from './search.js'
import { InvitationController, providers } from './services.js'
import { SizeController } from './sizes.js'
import { AgeController } from './transactions.js'

export const app = createApp({
  controllers: [
    AnswerController,
    AuditedController,
    PowerController,
    SearchController,
    InvitationController,
    SizeController,
    AgeController,
  ],
  lifespan: [database, audit],
  providers,
  middleware: [helmet(), cors({ origin: 'https://heroes.example' }), compression()],
  bodyLimit: 64 * 1024, // bytes
  maxConnections: 5_000,
  timeouts: { handler: 5_000, drain: 20_000 }, // milliseconds
})
