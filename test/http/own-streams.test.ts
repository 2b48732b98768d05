import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { Controller, file, Get, Query } from 'sequitur'
import { api } from '../support/api.js'
import { oddThrows } from '../support/odd-throws.js'
import { until } from '../support/waiting.js'

/*
 * A stream of the program fails with whatever it throws: its response is broken off, the log has a line, and the app goes on.
 */

const fail = (kind: string): Error => oddThrows[kind]?.() as Error

const sources: Readonly<Record<string, (kind: string) => Readable>> = {
  generator: (kind) =>
    Readable.from(
      (async function* () {
        yield 'x'.repeat(100_000)
        throw fail(kind)
      })(),
    ),
  read: (kind) => {
    let reads = 0
    return new Readable({
      read() {
        if (reads++ > 3) throw fail(kind)
        this.push('x'.repeat(50_000))
      },
    })
  },
  destroy: (kind) => {
    let reads = 0
    return new Readable({
      read() {
        if (reads++ > 3) return void setImmediate(() => this.destroy(fail(kind)))
        this.push('x'.repeat(50_000))
      },
    })
  },
  'callback of destroy': (kind) => {
    let reads = 0
    return new Readable({
      read() {
        if (reads++ > 3) return void setImmediate(() => this.destroy())
        this.push('x'.repeat(50_000))
      },
      destroy(_, done) {
        done(fail(kind))
      },
    })
  },
  event: (kind) => {
    let reads = 0
    return new Readable({
      read() {
        if (reads++ > 3) return void setImmediate(() => this.emit('error', fail(kind)))
        this.push('x'.repeat(50_000))
      },
    })
  },
}

@Controller('/')
class Streams {
  @Get('/stream', { produces: 'text/plain' }) stream(@Query() kind: string, @Query() source: string) {
    const stream = sources[source]?.(kind)
    assert.ok(stream)
    return file(stream, { type: 'text/plain' })
  }
  @Get('/whole', { produces: 'text/plain' }) whole() {
    return file(Readable.from(['whole']), { type: 'text/plain' })
  }
}

for (const source of Object.keys(sources))
  for (const kind of Object.keys(oddThrows))
    test(
      `${kind}, with which a stream fails by its ${source}, ends the response and is logged`,
      { timeout: 20_000 },
      async (t) => {
        const app = await api(t, [Streams])
        const path = `/stream?source=${encodeURIComponent(source)}&kind=${encodeURIComponent(kind)}`
        await assert.rejects(app.fetch(path).then((response) => response.text()))
        await until('it is logged', async () => app.log.length === 1)
        assert.equal(await (await app.fetch('/whole')).text(), 'whole')
      },
    )
