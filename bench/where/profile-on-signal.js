// node --import: a CPU profile of the process from one SIGUSR2 to the next, in the file that BENCH_PROFILE names.
import { renameSync, writeFileSync } from 'node:fs'
import { Session } from 'node:inspector'

const MICROSECONDS = 200
const session = new Session()
let isRunning = false

session.connect()
session.post('Profiler.enable')
session.post('Profiler.setSamplingInterval', { interval: MICROSECONDS })
process.on('SIGUSR2', () => {
  isRunning = !isRunning
  if (isRunning) return session.post('Profiler.start')
  session.post('Profiler.stop', (error, result) => {
    if (error) throw error
    const file = process.env.BENCH_PROFILE ?? 'where.cpuprofile'
    writeFileSync(`${file}.part`, JSON.stringify(result.profile))
    renameSync(`${file}.part`, file) // whoever waits for the file reads all of it
  })
})
