import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { temporaryFolder } from './processes.js'
import { until } from './waiting.js'

/** Starts HAProxy with a configuration, which ends with the test, and waits until it listens on a port. */
export async function startHaproxy(t: TestContext, configuration: string, port: number): Promise<void> {
  const file = join(temporaryFolder(), 'haproxy.cfg')
  writeFileSync(file, configuration)
  const PATH = `${process.env['PATH']}:/usr/sbin`
  const haproxy = spawn('haproxy', ['-f', file], { env: { ...process.env, PATH }, stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  haproxy.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(haproxy, 'exit')
  t.after(async () => {
    haproxy.kill('SIGKILL')
    await ended
  })
  await until('HAProxy listens', () => {
    if (haproxy.exitCode !== null) throw new Error(`HAProxy has ended:\n${output}`)
    return accepts(port)
  })
}

async function accepts(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1')
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
