import type { IncomingMessage } from 'node:http'
import { createApp, newLifespan } from 'sequitur'
import serverless from 'serverless-http'
import { Hero } from '../hero.js'
import { HeroController } from '../heros.js'

export const app = createApp({
  controllers: [HeroController],
  models: [Hero],
  // A container answers one request at a time, and there may be hundreds of them.
  lifespan: newLifespan(undefined, { defaultUrl: 'sqlite+sqlite3:///:memory:', poolSize: 1 }),
})

const answer = serverless(app.handler, {
  // Sequitur reads the headers as they were sent, which the adapter leaves out.
  request(request: IncomingMessage) {
    request.rawHeaders = Object.entries(request.headers).flatMap(([name, value]) => [name, String(value)])
  },
})

/** What AWS Lambda calls. The app starts with the first request of a container, and stays started for those that follow. */
export async function handler(event: object, context: object): Promise<object> {
  await app.start()
  return answer(event, context)
}
