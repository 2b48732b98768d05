import { type AppOptions, createApp } from 'sequitur'
import { database } from './database.js'
import { TaskController } from './tasks.js'

export const options: AppOptions = {
  controllers: [TaskController],
  lifespan: database,
  health: true,
  timeouts: { shutdownDelay: Number(process.env['SHUTDOWN_DELAY'] ?? 0) }, // milliseconds, behind a balancer
  info: { title: 'my-api', version: '0.1.0' },
}

export const app = createApp(options)
