import compression from 'compression'
import cors from 'cors'
import helmet from 'helmet'
import { createApp } from 'sequitur'
import { database } from '../database.js'
import { HeroController } from '../heros.js'

export const app = createApp({
  controllers: [HeroController],
  lifespan: database,
  middleware: [
    helmet(),
    cors({ origin: 'https://heroes.example', exposedHeaders: ['Link', 'Retry-After'] }),
    compression(),
  ],
  bodyLimit: 64 * 1024, // bytes
  maxConnections: 5_000,
  timeouts: { handler: 5_000, drain: 20_000 }, // milliseconds
})
