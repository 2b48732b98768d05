import cluster, { type Worker } from 'node:cluster'
import { availableParallelism } from 'node:os'

const processes = Number(process.env['toolkit_processes'] ?? availableParallelism())

if (cluster.isWorker) {
  await import('./deployed.js') // createApp() and listen()
} else {
  // Workers accept connections themselves: one that this process hands to a worker that was just killed would never be answered.
  cluster.schedulingPolicy = cluster.SCHED_NONE
  const fork = () => cluster.fork({ toolkit_processes: String(processes) })
  const hasStarted = (worker: Worker) =>
    new Promise<boolean>((resolve) => {
      worker.once('listening', () => resolve(true)).once('exit', () => resolve(false))
    })
  let isEnding = false

  cluster.on('listening', ({ process: { pid } }) => console.log(`Worker ${pid} listens`))
  cluster.on('exit', ({ process: { pid } }, code, signal) => {
    console.log(`Worker ${pid} ended: ${signal ?? code}`)
    // Later: a worker that cannot start must not use all of the CPU.
    setTimeout(() => isEnding || Object.keys(cluster.workers ?? {}).length >= processes || fork(), 1_000)
  })

  // Replaces the workers one by one, for example by a new build. Where that does not start, the old ones stay.
  const replaceAll = async () => {
    for (const worker of Object.values(cluster.workers ?? {})) {
      if (isEnding || !(await hasStarted(fork()))) return
      worker?.disconnect()
    }
  }
  let replaced = Promise.resolve()
  process.on('SIGUSR2', () => (replaced = replaced.then(replaceAll)))
  for (const signal of ['SIGTERM', 'SIGINT'])
    process.once(signal, () => {
      isEnding = true
      cluster.disconnect()
    })

  for (let n = 0; n < processes; n++) fork()
}
