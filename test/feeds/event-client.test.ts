import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cuttingProxy } from '../support/cutting-proxy.js'
import { plainServer } from '../support/connection.js'
import { EventClient, EventParser, type ReceivedEvent } from '../support/event-client.js'
import { random, runs } from '../support/fuzz.js'
import { until } from '../support/waiting.js'

/*
 * The client that the laws of the feeds believe: it must neither lose nor repeat an event by itself.
 */

const STREAM =
  'id: a.0\n\n:\n\nevent: saved\nid: a.1\ndata: {"name":"Zoë 🦸"}\n\nretry: 100\n\nevent: reset\ndata: {}\n\ndata: 2\nid: a.2\n\nid: a.9\ndata: 3'

test('events are the same wherever the stream is cut, and the id is that of the last whole block', () => {
  const numbers = random(7)
  for (let run = 0; run < runs(400); run++) {
    const events: ReceivedEvent[] = []
    const parser = new EventParser((event) => events.push(event))
    for (let at = 0; at < STREAM.length;) {
      const next = at + 1 + numbers(20)
      parser.write(STREAM.slice(at, next))
      at = next
    }
    assert.deepEqual(events, [
      { type: 'saved', data: '{"name":"Zoë 🦸"}', id: 'a.1' },
      { type: 'reset', data: '{}', id: 'a.1' },
      { type: 'message', data: '2', id: 'a.2' },
    ])
    assert.equal(parser.id, 'a.2')
    assert.equal(parser.comments, 1)
  }
})

test('a line that is none of a stream is refused', () => {
  for (const line of ['data:x', 'id : 1', 'HTTP/1.1 200 OK', 'retry: soon', 'data: a\rdata: b'])
    assert.throws(() => new EventParser(() => {}).write(`${line}\n`), /No line of a stream/, line)
})

test('a client that is cut goes on after its last id', async (t) => {
  const url = await plainServer(t, (request, response) => {
    const last = Number(request.headers['last-event-id'] ?? 0)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let number = last + 1; number <= 500; number++)
      response.write(`id: ${number}\ndata: {"number":${number},"text":"${'ü'.repeat(2_000)}"}\n\n`)
  })
  const proxy = await cuttingProxy(t, url, 3)
  const received: number[] = []
  const client = new EventClient({
    url: () => proxy.url,
    receive: ({ data }) => received.push((JSON.parse(data) as { number: number }).number),
    pause: 1,
  })
  t.after(() => client.stop())
  await until('the last event', () => received.at(-1) === 500)
  assert.deepEqual(
    received,
    Array.from({ length: 500 }, (_, index) => index + 1),
  )
  assert.ok(client.connections > 1)
  assert.deepEqual(client.errors, [])
})
