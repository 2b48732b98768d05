import { createApp } from 'sequitur'
import { database } from '../database.js'
import { HeroController } from '../heros.js'

export const app = createApp({
  controllers: [HeroController],
  lifespan: database,
  health: true, // GET /livez and GET /readyz
  timeouts: {
    shutdownDelay: Number(process.env['SHUTDOWN_DELAY'] ?? 0), // what the balancer needs to send no more requests
    drain: 20_000, // both together are less than the time between SIGTERM and SIGKILL
  },
})

await app.listen(Number(process.env['PORT'] ?? 8000), process.env['HOST'])
