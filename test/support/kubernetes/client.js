// node client.js <url>: clients of ./app, which send requests until stdin ends. Prints the answers as JSON. Needs no packages: it runs in a pod.
import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'

/**
 * @typedef {object} Answer
 * @property {string} client how it connects: `kept`, `idle` and `rare` (kept, and used every few seconds) or `new`
 * @property {string} method
 * @property {string} outcome the status, or the code of the error
 * @property {string | undefined} pod
 * @property {boolean} reused whether the connection had served a request before
 * @property {number} at milliseconds since 1970, when the request was sent
 * @property {number} took milliseconds
 */

const url = process.argv[2] ?? ''
/** How many clients there are of each kind, and the milliseconds between two requests of one. */
const kinds = {
  kept: { clients: 4, pause: 50 },
  new: { clients: 2, pause: 50 },
  idle: { clients: 4, pause: 3_000 },
  rare: { clients: 4, pause: 7_000 },
}

/** @type {Record<string, number>} */
const outcomes = {}
/** @type {Answer[]} */
const failed = []
/** @type {string[]} */
const paid = []
let slowest = 0
const stop = new AbortController()

/**
 * @param {string} client
 * @param {Agent | false} agent
 * @param {string} method
 * @param {string} path
 * @param {{ account: string, key: string }} [payment]
 * @returns {Promise<Answer>}
 */
function send(client, agent, method, path, payment) {
  const at = Date.now()
  /** @type {Record<string, string>} */
  const headers = payment ? { 'content-type': 'application/json', 'idempotency-key': `"${payment.key}"` } : {}
  return new Promise((resolve) => {
    const sent = request(url + path, { agent, method, headers, timeout: 15_000 })
    /** @param {string} outcome @param {string} [pod] */
    const end = (outcome, pod) => {
      const took = Date.now() - at
      resolve({ client, method, outcome, pod, reused: sent.reusedSocket, at, took })
    }
    sent.on('response', (response) => {
      const { statusCode, headers: received } = response
      response.on('error', (/** @type {NodeJS.ErrnoException} */ error) => end(`half a response, then ${error.code}`))
      response.resume().on('end', () => end(String(statusCode), received['x-pod']?.toString()))
    })
    sent.on('timeout', () => sent.destroy(Object.assign(new Error(), { code: 'no answer' })))
    sent.on('error', (/** @type {NodeJS.ErrnoException} */ error) => end(String(error.code)))
    sent.end(payment && JSON.stringify({ account: payment.account }))
  })
}

/** @param {Answer} answer @param {string} expected */
function count(answer, expected) {
  const { client, method, outcome, took } = answer
  const name = `${client} ${method} ${outcome}`
  outcomes[name] = (outcomes[name] ?? 0) + 1
  slowest = Math.max(slowest, took)
  if (outcome !== expected) failed.push(answer)
  return outcome === expected
}

/**
 * @param {keyof typeof kinds} client
 * @param {number} pause
 */
async function requests(client, pause) {
  const agent = client === 'new' ? false : new Agent({ keepAlive: true, maxSockets: 1 })
  await wait(Math.random() * pause)
  while (!stop.signal.aborted) {
    count(await send(client, agent, 'GET', '/payments/?limit=5'), '200')
    const key = randomUUID()
    // With the same key, until it is known that the payment was made.
    while (!count(await send(client, agent, 'POST', '/payments/', { account: key, key }), '201')) await wait(100)
    paid.push(key)
    await wait(pause)
  }
  if (agent) agent.destroy()
}

process.stdin.resume().on('end', () => stop.abort())
const since = Date.now()
const all = Object.entries(kinds).flatMap(([kind, { clients, pause }]) =>
  Array.from({ length: clients }, () => requests(/** @type {keyof typeof kinds} */ (kind), pause)),
)
await Promise.all(all)
const stored = await new Promise((resolve, reject) => {
  request(`${url}/payments/accounts`, { agent: false }, (response) => {
    let text = ''
    response.setEncoding('utf8').on('data', (/** @type {string} */ part) => (text += part))
    response.on('end', () => resolve(JSON.parse(text)))
  })
    .on('error', reject)
    .end()
})
const times = new Map()
for (const account of stored) times.set(account, (times.get(account) ?? 0) + 1)
const lost = paid.filter((account) => !times.has(account))
const doubled = [...times].filter(([, n]) => n > 1).map(([account]) => account)
const seconds = (Date.now() - since) / 1_000
console.log(JSON.stringify({ seconds, outcomes, slowest, failed, paid: paid.length, lost, doubled }))
