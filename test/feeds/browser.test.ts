// The same on both query paths: it tests what a browser makes of the stream.
import assert from 'node:assert/strict'
import { get, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { test } from 'node:test'
import { withSession } from 'sequitur'
import { feedsOf } from 'sequitur/feeds'
import { openPage, skipWithoutBrowser as skip } from '../support/browser.js'
import { plainServer } from '../support/connection.js'
import { databaseApp, postgres, sqliteFile } from '../support/databases.js'
import { until } from '../support/waiting.js'
import { feedModels, Numbered, NumberedController } from './numbered.js'

const TOPICS = ['heroes', 'teams & more']

const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><script>
  const query = ${JSON.stringify(TOPICS)}.map((topic) => 'topic=' + encodeURIComponent(topic)).join('&')
  const seen = []
  const others = []
  let errors = 0
  const source = new EventSource('/events?' + query)
  source.addEventListener('law.numbered', (event) => seen.push(JSON.parse(event.data)))
  source.addEventListener('message', (event) => others.push(event.data))
  source.addEventListener('reset', (event) => others.push('reset'))
  source.addEventListener('error', () => errors++)
</script>`

/** What the page has. */
interface Seen {
  readonly seen: readonly Numbered[]
  readonly others: readonly string[]
  readonly errors: number
  readonly state: number
}

/** Forwards a stream, but the browser comes back at once, and it is cut after some bytes. @param receive is given what has arrived of the app. */
function forwardPart(
  url: string,
  request: IncomingMessage,
  response: ServerResponse,
  most: number,
  receive: (text: string) => void,
): void {
  const { 'last-event-id': id, accept } = request.headers
  const upstream = get(
    url + String(request.url),
    { headers: { accept, ...(id === undefined ? {} : { 'last-event-id': id }) } },
    (answer) => {
      response.writeHead(answer.statusCode ?? 502, { 'content-type': answer.headers['content-type'] })
      let left = most
      answer.on('error', () => {}) // of the cut
      answer.on('data', (chunk: Buffer) => {
        receive(String(chunk))
        const part = Buffer.from(String(chunk).replace(/retry: \d+/, 'retry: 1')).subarray(0, left)
        left -= part.length
        response.write(part, () => {
          if (left === 0) response.destroy()
        })
      })
      response.on('close', () => answer.destroy())
    },
  )
  upstream.on('error', () => response.destroy())
}

/** The first connection lasts until the browser has an id to come back with, and those after the hundred are not cut. */
function bytesOf(connection: number): number {
  if (connection > 100) return Infinity
  return (connection === 0 ? 300 : 0) + Math.floor(Math.random() * 600)
}

for (const kind of [sqliteFile, postgres])
  test(
    `${kind.name}: EventSource of Chromium receives each event once over 100 disconnections, in the order of the commits`,
    { skip },
    async (t) => {
      const app = await databaseApp(t, kind, feedModels, [NumberedController], { lifespan: { echo: false } })
      const cut = { connections: 0 }
      let sent = ''
      const url = await plainServer(t, (request, response) => {
        if (request.url?.startsWith('/events'))
          forwardPart(app.url, request, response, bytesOf(cut.connections++), (text) => (sent += text))
        else response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
      })
      const page = await openPage(t)
      await page.goto(url)
      const look = () => page.evaluate('({ seen, others, errors, state: source.readyState })') as Promise<Seen> // as PAGE declares them
      // The first id, which the browser does not show: what is published from now on is behind it.
      await until('the browser follows', () => /^id: .*\n/m.test(sent))
      let number = 0
      const publish = () =>
        withSession(app.database, async (session) => {
          number++
          for (const topic of TOPICS) feedsOf(session).publish(Numbered, { number, topic }, { topic })
        })
      while (cut.connections <= 100) {
        await publish()
        await wait(5)
      }
      await until('the browser has the last event of each topic', async () => {
        const { seen } = await look()
        return TOPICS.every((topic) => seen.findLast((event) => event.topic === topic)?.number === number)
      })
      const { seen, others, errors } = await look()
      assert.deepEqual(others, [])
      assert.ok(errors >= 100)
      for (const topic of TOPICS)
        assert.deepEqual(
          seen.filter((event) => event.topic === topic).map((event) => event.number),
          Array.from({ length: number }, (_, index) => index + 1),
        )
    },
  )
