// An app of payments that a test kills. Its database is the environment's; it sends its address to the process that has started it.
import { createApp, newLifespan } from 'sequitur'
import { models } from './app.js'
import { ThreeRowsController } from './three-rows.js'

const app = createApp({
  controllers: [ThreeRowsController],
  models: [...models],
  lifespan: newLifespan(undefined, { sync: process.argv.includes('--sync') }),
  logger: false,
})
const { url } = await app.listen(0)
process.send?.(url)
