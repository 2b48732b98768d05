// An app that adds jobs and runs them, which a test kills. It sends its address, and what its log says, to the process that has started it.
import { createApp, newLifespan } from 'sequitur'
import { CrashJobs, EntryController, models } from './app.js'
import { schedules } from './schedules.js'

const write = (line: string) => void process.send?.({ line })

const app = createApp({
  controllers: [EntryController],
  jobs: [CrashJobs, ...schedules],
  work: { default: 8 },
  models: [...models],
  lifespan: newLifespan(undefined, { sync: process.argv.includes('--sync') }),
  logger: { info: write, warn: write, error: write },
})
const { url } = await app.listen(0)
process.send?.({ url })
