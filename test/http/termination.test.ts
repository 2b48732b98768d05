import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type TestContext, test } from 'node:test'
import { Controller, createApp, Get, newLifespan } from 'sequitur'
import { api } from '../support/api.js'
import { flags, root } from '../support/processes.js'

interface Program {
  readonly process: ChildProcess
  /** Of both of its apps. */
  readonly urls: readonly string[]
  /** Waits until the program has written this. */
  written(text: string): Promise<void>
  readonly ended: Promise<unknown[]>
}

async function program(
  t: TestContext,
  name = 'slow.ts',
  args: readonly string[] = [],
  started = 'ready',
): Promise<Program> {
  const child = spawn(process.execPath, [...flags, `test/support/programs/${name}`, ...args], {
    cwd: root,
    stdio: ['ignore', 'pipe', 2],
  })
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
  const written = async (text: string) => {
    while (!output.includes(text)) {
      const more = await Promise.race([once(child.stdout as NodeJS.ReadableStream, 'data'), ended.then(() => 'ended')])
      if (more === 'ended') throw new Error(`The program ended without '${text}':\n${output}`)
    }
  }
  await written(started)
  return { process: child, urls: [...output.matchAll(/http:\S+\d(?=,)/g)].map(String), written, ended }
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  test(`${signal} lets a running request finish, then ends the process with 0`, async (t) => {
    const { process, urls, written, ended } = await program(t)
    const answer = fetch(`${urls[0]}/slow?ms=300`)
    await written('running')
    process.kill(signal)
    assert.equal(await (await answer).json(), 'finished')
    assert.deepEqual(await ended, [0, null])
  })
}

test('of two apps the one that is done first does not cut off the other', async (t) => {
  const { process, urls, written, ended } = await program(t)
  const answer = fetch(`${urls[1]}/slow?ms=300`)
  await written('running')
  process.kill('SIGTERM')
  assert.equal(await (await answer).json(), 'finished')
  assert.deepEqual(await ended, [0, null])
})

test('a second signal ends the process at once', async (t) => {
  const { process, urls, written, ended } = await program(t)
  const answer = assert.rejects(fetch(`${urls[0]}/slow?ms=60000`))
  await written('running')
  process.kill('SIGTERM')
  await written('SIGTERM: closing after the running requests')
  process.kill('SIGTERM')
  assert.deepEqual(await ended, [null, 'SIGTERM'])
  await answer
})

test('a closed app leaves no listener of signals behind', async (t) => {
  @Controller()
  class Idle {
    @Get() get() {}
  }
  const before = process.listenerCount('SIGTERM')
  const apps = await Promise.all(Array.from({ length: 12 }, () => api(t, [Idle])))
  assert.equal(process.listenerCount('SIGTERM'), before + 1)
  await Promise.all(apps.map(({ close }) => close()))
  assert.equal(process.listenerCount('SIGTERM'), before)
})

for (const shutdownDelay of ['0', '60000']) {
  test(`SIGTERM ends a program that waits for its database with 0, with a shutdownDelay of ${shutdownDelay} ms`, async (t) => {
    const { process, written, ended } = await program(t, 'starting.ts', [shutdownDelay], 'Trying again')
    process.kill('SIGTERM')
    await written('SIGTERM: closing after the running requests')
    assert.deepEqual(await ended, [0, null])
  })
}

test('an app that cannot start leaves no listener of signals behind', async () => {
  const before = process.listenerCount('SIGTERM')
  const lifespan = newLifespan('postgres+pg://127.0.0.1:1/none', { startTimeout: 0 })
  await assert.rejects(createApp({ controllers: [], lifespan, logger: false }).listen(0), /Cannot reach/)
  assert.equal(process.listenerCount('SIGTERM'), before)
})
