import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, type ClientRequest, get } from 'node:http'
import { test, type TestContext } from 'node:test'
import { runs } from '../support/fuzz.js'
import { flags, root } from '../support/processes.js'

const CLIENTS = 32

async function startProgram(t: TestContext) {
  const child = spawn(process.execPath, [...flags, 'test/support/programs/serving.ts'], {
    cwd: root,
    stdio: ['ignore', 'pipe', 2],
  })
  t.after(() => child.kill('SIGKILL'))
  const ended = once(child, 'exit')
  let output = ''
  const stdout = child.stdout as NodeJS.ReadableStream // not null, as it is a pipe
  stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  while (!output.includes('\n')) await once(stdout, 'data')
  return { child, ended, url: /http:[^\s,]+/.exec(output)?.[0] ?? '', output: () => output }
}

/** The status of the response and its Connection header, or the code of the error. */
function outcome(request: ClientRequest): Promise<string> {
  return new Promise((resolve) => {
    request.on('error', (error: NodeJS.ErrnoException) => resolve(String(error.code)))
    request.on('response', (response) => {
      const { statusCode, headers } = response
      response.on('error', (error: NodeJS.ErrnoException) => resolve(`half a response, then ${error.code}`))
      response.resume().on('end', () => resolve(`${statusCode} ${headers.connection}`))
    })
  })
}

/** Sends requests on one connection, each as soon as the one before is answered, until nothing listens any more. */
async function sendUntilRefused(url: string, outcomes: string[]): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  for (let last = ''; last !== 'ECONNREFUSED';) {
    last = await outcome(get(url, { agent }))
    outcomes.push(last)
  }
}

/** Ends a program with busy clients, of which none may find its connection reset, and returns how many requests were refused. */
async function terminateUnderLoad(t: TestContext): Promise<number> {
  const { child, ended, url, output } = await startProgram(t)
  const outcomes: string[] = []
  const clients = Array.from({ length: CLIENTS }, () => sendUntilRefused(url, outcomes))
  while (outcomes.length < 10 * CLIENTS)
    await Promise.race([...clients, new Promise((resolve) => setTimeout(resolve, 10))])
  child.kill('SIGTERM')
  await Promise.all(clients)
  assert.deepEqual(await ended, [0, null])
  const kinds = [...new Set(outcomes)].filter((kind) => !/^(?:200 |503 close$|ECONNREFUSED$)/.test(kind))
  assert.deepEqual(kinds, [])
  assert.ok(outcomes.some((kind) => kind.endsWith(' close')))
  assert.match(output(), /^Listening on [^\n]+\n$/)
  return outcomes.filter((kind) => kind === '503 close').length
}

let refused = 0

for (let round = 1; round <= runs(10); round++) {
  test(`of ${CLIENTS} busy clients SIGTERM resets no connection (round ${round})`, async (t) => {
    refused += await terminateUnderLoad(t)
  })
}

test('new work was refused meanwhile', async (t) => {
  // Not in every round: all clients may be waiting for a response when the signal comes, which tells them to close.
  for (let round = 0; refused === 0 && round < 20; round++) refused += await terminateUnderLoad(t)
  assert.ok(refused > 0)
})

test('after SIGTERM a connection that stays idle does not keep the program running', async (t) => {
  const { child, ended, url } = await startProgram(t)
  const agent = new Agent({ keepAlive: true })
  t.after(() => agent.destroy())
  assert.equal(await outcome(get(url, { agent })), '200 keep-alive')
  child.kill('SIGTERM')
  assert.deepEqual(await ended, [0, null])
})
