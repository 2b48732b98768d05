import cluster from 'node:cluster'
import { availableParallelism } from 'node:os'
import { createApp } from 'sequitur'
import { appOptions } from './app.js'

const processes = availableParallelism()

if (cluster.isPrimary) {
  cluster.schedulingPolicy = cluster.SCHED_NONE
  for (let n = 0; n < processes; n++) cluster.fork()
} else {
  const app = createApp(appOptions(process.env, processes))
  await app.listen(Number(process.env['PORT'] ?? 8080), process.env['HOST'])
}
