import assert from 'node:assert/strict'
import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { runInNewContext } from 'node:vm'
import { Controller, Events, events, Field, file, Get, mapOf, Post } from 'sequitur'
import { api } from '../support/api.js'
import { databaseApp, sqliteFile } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { until } from '../support/waiting.js'

/*
 * What a handler returns and cannot be sent: a 500 and a rollback, or a closed connection where the response has begun; the process goes on.
 */

class Part {
  @Field({ type: 'integer' }) number!: number
}
class Whole {
  @Field() name!: string
  @Field({ type: Part }) part!: Part
  @Field({ type: [Part], optional: true }) parts?: Part[]
}

/** Promises that reject when the response was sent. */
class Later {
  #fail: () => void = () => {}
  readonly #failing = new Promise<never>((_, reject) => (this.#fail = () => reject(new Error('It fails later.'))))

  constructor() {
    this.#failing.catch(() => {})
  }

  make(): Promise<never> {
    return this.#failing.then((value) => value)
  }

  /** All of them reject; an error that nothing handles fails the test. */
  async fail(): Promise<void> {
    this.#fail()
    await new Promise((resolve) => setImmediate(resolve))
  }
}

const FORGOTTEN: readonly (readonly [string, unknown, (make: () => Promise<never>) => unknown])[] = [
  ['each item', [Part], (make) => [1, 2, 3].map(make)],
  ['a property', Whole, (make) => ({ name: 'a', part: make() })],
  ['several properties', Whole, (make) => ({ name: make(), part: make(), parts: [make()] })],
  ['the values of a map', mapOf(Part), (make) => ({ a: make(), b: make() })],
  ['each item without a declaration', undefined, (make) => [1, 2, 3].map(make)],
  ['properties without a declaration', undefined, (make) => ({ a: { b: make() }, c: [make()] })],
]

for (const [where, type, result] of FORGOTTEN)
  test(`promises that nothing awaits do not end the process: ${where}`, async (t) => {
    const later = new Later()
    const respond = () => result(() => later.make()) as never
    @Controller('/')
    class Undeclared {
      @Get('/') read() {
        return respond()
      }
    }
    @Controller('/')
    class Declared {
      @Get('/', type as never) read() {
        return respond()
      }
    }
    const { fetch, log } = await api(t, [type === undefined ? Undeclared : Declared])
    assert.equal((await fetch('/')).status, 500)
    assert.match(log.join('\n'), /promise that was not awaited|a Promise at .* not awaited/)
    await later.fail()
    assert.equal((await fetch('/')).status, 500)
  })

test('promises in the data of an event do not end the process', async (t) => {
  const later = new Later()
  @Controller('/')
  class Ticks {
    @Get('/', Events.of(Whole)) read() {
      const source = async function* () {
        yield { data: { name: 'a', part: later.make(), parts: [later.make()] } as never }
      }
      return events<Whole>(source())
    }
  }
  const { fetch, log } = await api(t, [Ticks])
  await assert.rejects(async () => (await fetch('/')).text())
  await until('the log says why', () => Promise.resolve(log.some((line) => line.includes('not awaited'))))
  await later.fail()
})

const CHUNKS: readonly unknown[] = [{ a: 1 }, 5, new Uint16Array(2), new ArrayBuffer(2), [1], true, undefined]

for (const chunk of CHUNKS)
  for (const before of [[], ['the first one', Buffer.from('bytes')]])
    test(`a chunk that is no bytes closes the connection: ${JSON.stringify(chunk)} behind ${before.length}`, async (t) => {
      @Controller('/')
      class Streams {
        @Get('/', { produces: 'text/plain' }) read() {
          return file(Readable.from([...before, chunk, 'the last one']), { type: 'text/plain' })
        }
        @Get('/next') next() {
          return 'next'
        }
      }
      const { fetch, log } = await api(t, [Streams])
      await assert.rejects(async () => (await fetch('/')).text())
      await until('the log says why', () =>
        Promise.resolve(log.some((line) => /The stream of the response has .* as a chunk/.test(line))),
      )
      assert.equal(await (await fetch('/next')).json(), 'next')
    })

test('strings and bytes of a stream of objects are sent', async (t) => {
  @Controller('/')
  class Streams {
    @Get('/', { produces: 'text/plain' }) read() {
      const chunks: unknown[] = ['é', Buffer.from('b'), new Uint8Array([99]), runInNewContext('new Uint8Array([100])')]
      return file(Readable.from(chunks), { type: 'text/plain' })
    }
  }
  const { fetch } = await api(t, [Streams])
  assert.equal(await (await fetch('/')).text(), 'ébcd')
})

/** Like those of other packages than node:stream, which many archivers use. */
class OtherStream extends EventEmitter {
  pipe() {}
}

const SOURCES: readonly (readonly [string, () => unknown])[] = [
  ['a web stream', () => new ReadableStream()],
  ['a stream of another package', () => new OtherStream()],
  ['an ArrayBuffer', () => new ArrayBuffer(4)],
  ['a DataView', () => new DataView(new ArrayBuffer(4))],
  ['a Blob', () => new Blob(['abc'])],
  ['a number', () => 5],
  ['null', () => null],
  ['undefined', () => undefined],
]

for (const [name, source] of SOURCES)
  test(`file() refuses ${name} before COMMIT`, async (t) => {
    @Controller('/')
    class Files {
      @Post('/', { produces: '*/*' }) async send() {
        await Hero.create({ name: 'Robin' })
        return file(source() as never)
      }
    }
    const { fetch, log } = await databaseApp(t, sqliteFile, [Team, Hero], [Files])
    assert.equal((await fetch('/', { method: 'POST' })).status, 500)
    assert.match(
      log.join('\n'),
      /file\(\): the source is .*\. Pass a path, a Uint8Array, or a Readable of node:stream\./,
    )
    assert.equal(await Hero.count(), 0)
  })
