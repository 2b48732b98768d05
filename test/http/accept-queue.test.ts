import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { connect } from 'node:net'
import { test } from 'node:test'
import { serve } from '../support/processes.js'
import { until } from '../support/waiting.js'

const BUSY = 16
const NEW = 60

test('while requests run, new connections are accepted between them', async () => {
  const { url, stop } = await serve(['test/support/programs/serving.ts'], {})
  const load = { served: 0, isOver: false }
  const client = async (agent: Agent) => {
    while (!load.isOver) {
      const [response] = await once(get(`${url}/busy`, { agent }), 'response')
      await once(response.resume(), 'end')
      load.served++
    }
    agent.destroy()
  }
  const clients = Array.from({ length: BUSY }, () => client(new Agent({ keepAlive: true, maxSockets: 1 })))
  await until('all clients are busy', () => load.served > 2 * BUSY)
  const before = load.served
  const arrivals = Array.from({ length: NEW }, async () => {
    const socket = connect(Number(new URL(url).port), '127.0.0.1')
    socket.write('GET /busy HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
    await once(socket.resume(), 'close')
  })
  await Promise.all(arrivals)
  const meanwhile = load.served - before
  load.isOver = true
  await Promise.all(clients)
  // One connection in a turn in which all clients are served would make it BUSY for each.
  assert.ok(meanwhile < 4 * NEW, `${meanwhile} requests were served before ${NEW} new connections`)
  await stop()
})
