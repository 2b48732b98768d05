import cluster from 'node:cluster'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'

const processes = Number(process.env['toolkit_processes'] ?? availableParallelism())

if (cluster.isWorker) {
  await import('./deployed.js') // createApp() and listen()
} else {
  const fork = () => cluster.fork({ toolkit_processes: String(processes) })
  let isEnding = false

  cluster.on('listening', ({ process: { pid } }) => console.log(`Worker ${pid} listens`))
  cluster.on('exit', ({ exitedAfterDisconnect, process: { pid } }, code, signal) => {
    console.log(`Worker ${pid} ended: ${signal ?? code}`)
    // A worker that cannot start must not use all of the CPU.
    if (!exitedAfterDisconnect) setTimeout(() => isEnding || fork(), 1_000)
  })

  // Replaces the workers one by one, for example by a new build.
  process.on('SIGUSR2', async () => {
    for (const worker of Object.values(cluster.workers ?? {})) {
      await once(fork(), 'listening')
      worker?.disconnect()
    }
  })
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.once(signal, () => {
      isEnding = true
      cluster.disconnect()
    })

  for (let n = 0; n < processes; n++) fork()
}
