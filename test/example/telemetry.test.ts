import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Controller, Get } from 'sequitur'
import { memoryDatabase, testApp } from 'sequitur/testing'
import { Hero } from '../../example/hero.js'
import { HeroController } from '../../example/heros.js'
import { metricsServer } from '../../example/recipes/metrics.js'
import { endedRequests } from '../support/observed.js'

test('the program of the page on observability serves metrics on a port of their own', async (t) => {
  const ended = endedRequests(t)
  const api = await testApp({ controllers: [HeroController], models: [Hero], lifespan: memoryDatabase() })
  t.after(api.close)
  metricsServer.listen(0, '127.0.0.1')
  t.after(() => metricsServer.close())
  await once(metricsServer, 'listening')
  assert.equal((await api.fetch('/heros?limit=1')).status, 200)
  await ended.next()
  const { port } = metricsServer.address() as AddressInfo // of a listening server
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  assert.match(text, /http_request_duration_seconds_count\{method="GET",route="\/heros",status_code="200"\} 1/)
  assert.match(text, /process_cpu_seconds_total /)
})

@Controller('/hello')
class Hello {
  @Get('/') get() {}
}

test('the program of the page on observability exports spans and metrics', async (t) => {
  const printed: string[] = []
  t.mock.method(console, 'dir', (value: unknown) => void printed.push(JSON.stringify(value)))
  const { stopTelemetry } = await import('../../example/recipes/tracing.js')
  const ended = endedRequests(t)
  const api = await testApp({ controllers: [Hello] })
  await api.fetch('/hello')
  await ended.next()
  await api.close()
  await stopTelemetry()
  assert.match(printed.join('\n'), /"name":"GET \/hello"/)
  assert.match(printed.join('\n'), /http\.server\.request\.duration/)
})
