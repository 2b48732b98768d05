import { Controller, createApp, Field, Get, Session, sql } from 'sequitur'
import { database } from '../database.js'
import { HeroController } from '../heros.js'

class Health {
  @Field({ enum: ['ok'] }) status!: 'ok'
}

@Controller('/health')
class HealthController {
  /** Of the process: a balancer asks it every few seconds, and no query is sent. */
  @Get('/live', Health)
  live(): Health {
    return { status: 'ok' }
  }

  /** Of the database, too: 503 while it is unavailable. */
  @Get('/ready', Health)
  async ready(session: Session): Promise<Health> {
    await session.execute(sql`SELECT 1`)
    return { status: 'ok' }
  }
}

export const app = createApp({
  controllers: [HeroController, HealthController],
  lifespan: database,
  timeouts: { drain: 20_000 }, // less than the time between SIGTERM and SIGKILL
})

await app.listen(Number(process.env['PORT'] ?? 8000), process.env['HOST'])
