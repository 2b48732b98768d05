import { createApp, newLifespan } from 'sequitur'
import { JobRecord } from 'sequitur/jobs'

/*
 * relay.ts <program of example/jobs>: a worker of the jobs that it exports.
 */

const { VideoJobs } = await import(`../../../example/jobs/${process.argv[2]}.js`)
const app = createApp({
  controllers: [],
  jobs: [VideoJobs],
  models: [JobRecord],
  lifespan: newLifespan(process.env['toolkit_url'] ?? ''),
  work: { relay: 1 },
})
await app.start()
