import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { Controller, Events, events, Field, file, Get } from 'sequitur'
import { api } from '../support/api.js'
import { temporaryFolder } from '../support/processes.js'
import { skipWithout } from '../support/skip-without.js'
import { until } from '../support/waiting.js'

/*
 * An app behind nginx, as docs/deployment.md configures it, and with a plain `proxy_pass`, which speaks HTTP/1.0.
 */

const skip = skipWithout('nginx', ['nginx'])

class Tick {
  @Field({ type: 'integer' }) number!: number
}

async function* parts(fails: boolean) {
  for (let number = 0; number < 2_000; number++) yield `${number} ${'x'.repeat(100)}\n`
  if (fails) throw new Error('The source is broken.')
}

@Controller('/')
class Streams {
  @Get('/whole', { produces: 'text/plain' }) whole() {
    return file(Readable.from(parts(false)), { type: 'text/plain' })
  }
  @Get('/broken', { produces: 'text/plain' }) broken() {
    return file(Readable.from(parts(true)), { type: 'text/plain' })
  }
  @Get('/ticks', Events.of(Tick)) ticks() {
    return events(
      (async function* () {
        yield { data: { number: 1 } }
        await new Promise(() => {})
      })(),
    )
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

const [, documented = ''] = /```nginx\n(.*?)```/s.exec(readFileSync('docs/deployment.md', 'utf8')) ?? []
const plain = 'server { listen 8080; location / { proxy_pass http://127.0.0.1:8000; } }'

/** Starts nginx before an app. @returns its URL. */
async function behind(t: TestContext, configured: string): Promise<string> {
  const { url } = await api(t, [Streams])
  const folder = temporaryFolder()
  const port = await freePort()
  const http = configured
    .replaceAll('127.0.0.1:8000', new URL(url).host)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  )
  const lines = [
    'daemon off;',
    `pid ${folder}/pid;`,
    'events {}',
    `http { access_log off; ${paths.join(' ')}`,
    http,
    '}',
  ]
  writeFileSync(join(folder, 'nginx.conf'), lines.join('\n'))
  const path = `${process.env['PATH']}:/usr/sbin`
  const args = ['-e', join(folder, 'error.log'), '-p', folder, '-c', join(folder, 'nginx.conf')]
  const nginx = spawn('nginx', args, { env: { ...process.env, PATH: path }, stdio: 'inherit' })
  t.after(async () => {
    nginx.kill('SIGTERM')
    await once(nginx, 'exit')
  })
  const address = `http://127.0.0.1:${port}`
  await until('nginx listens', () =>
    fetch(`${address}/whole`).then(
      ({ ok }) => ok,
      () => false,
    ),
  )
  return address
}

for (const [name, configured] of [
  ['the documented configuration', documented],
  ['a plain proxy_pass', plain],
] as const)
  test(`behind nginx with ${name}, a broken response is not whole`, { skip }, async (t) => {
    const url = await behind(t, configured)
    const whole = await (await fetch(`${url}/whole`)).text()
    assert.equal(whole.split('\n').length, 2_001)
    const broken = await fetch(`${url}/broken`)
    assert.equal(broken.status, 200)
    await assert.rejects(broken.text())
  })

test('behind nginx with the documented configuration, an event arrives at once', { skip }, async (t) => {
  const url = await behind(t, documented)
  const response = await fetch(`${url}/ticks`)
  const reader = response.body?.getReader()
  const first = await reader?.read()
  assert.equal(Buffer.from(first?.value ?? []).toString(), 'data: {"number":1}\n\n')
  await reader?.cancel()
})
