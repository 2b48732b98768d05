// Needs a process of its own: it replaces functions of node:http.
import assert from 'node:assert/strict'
import Module from 'node:module'
import { after, test } from 'node:test'
import { HttpInstrumentation } from '@opentelemetry/instrumentation-http'
import { Controller, Get } from 'sequitur'
import { api } from '../support/api.js'
import { picked, telemetry, tracer } from '../support/telemetry.js'

// It replaces members of node:http when a CommonJS module requires that.
const instrumentation = new HttpInstrumentation({ disableOutgoingRequestInstrumentation: true })
new Module('program').require('http')

@Controller('/heros')
class Heros {
  @Get('/:hero_id') get(hero_id: number) {
    return tracer.startActiveSpan('mine', (span) => {
      span.end()
      return { hero_id }
    })
  }
}

after(() => instrumentation.disable())

// They are deferred while others connect.
test('the requests of many new connections have the spans of the instrumentation', async (t) => {
  const { url } = await api(t, [Heros])
  const { spans } = telemetry(t)
  const get = () => fetch(`${url}/heros/7`, { headers: { connection: 'close' } }).then((response) => response.text())
  await Promise.all(Array.from({ length: 50 }, get))
  const all = await spans(50)
  const scopes = all.all.flatMap(({ name, instrumentationScope }) => (name === 'mine' ? [] : instrumentationScope.name))
  assert.deepEqual([...new Set(scopes)], ['@opentelemetry/instrumentation-http'])
  assert.equal(scopes.length, 50)
})

test('where an instrumentation has made the span of a request, there is no other, and it has the route', async (t) => {
  const { fetch } = await api(t, [Heros])
  const { spans, points } = telemetry(t)
  const response = await fetch('/heros/7')
  const all = await spans()
  const span = all.one('GET /heros/:hero_id')
  assert.match(span.instrumentationScope.name, /instrumentation-http/)
  assert.deepEqual(picked(span, 'http.route', 'http.response.status_code', 'http.response.header.x-request-id'), {
    'http.route': '/heros/:hero_id',
    'http.response.status_code': 200,
    'http.response.header.x-request-id': [response.headers.get('x-request-id')],
  })
  assert.deepEqual(all.pathOf(all.one('mine')), ['mine', 'GET /heros/:hero_id'])
  assert.equal(all.all.length, 2)
  assert.deepEqual(await points('http.server.request.duration'), [])
  assert.equal((await points('http.server.active_requests')).length, 1)
})
