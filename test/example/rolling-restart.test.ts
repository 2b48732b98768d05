// Waits for seconds: the checks of a balancer.
import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test, type TestContext } from 'node:test'
import { newLifespan, withSession } from 'sequitur'
import { FeedEvent } from 'sequitur/feeds'
import { Hero } from '../../example/hero.js'
import { codeBlock } from '../support/code-block.js'
import { assertStored, Clients } from '../support/creating-clients.js'
import { startHaproxy } from '../support/haproxy.js'
import { startNginx } from '../support/nginx.js'
import { freePort } from '../support/postgres-server.js'
import { postgresUrl } from '../support/postgres.js'
import { serve, type Served, temporaryFolder } from '../support/processes.js'
import { skipWithout } from '../support/skip-without.js'
import { until } from '../support/waiting.js'

/*
 * Two processes of an app behind a balancer, as docs/deployment.md configures it, are replaced one after the other while clients write.
 */

/** Starts the program on a port, and waits until it is ready. */
async function deploy(database: string, port: number): Promise<Served> {
  const app = await serve(['example/recipes/deployed.ts'], {
    toolkit_url: database,
    PORT: String(port),
    SHUTDOWN_DELAY: '5000',
  })
  await until('the process is ready', async () => (await fetch(`${app.url}/readyz`)).ok)
  return app
}

interface Balancer {
  readonly url: string
  /** Called before a process is stopped, and after it is ready again. */
  leaveOut?(place: number): Promise<void>
  takeBack?(place: number): Promise<void>
}

async function haproxy(t: TestContext, ports: readonly number[]): Promise<Balancer> {
  const port = await freePort()
  const administration = join(temporaryFolder(), 'haproxy.sock')
  let configuration = codeBlock('docs/deployment.md', 'haproxy').replace('bind :8080', `bind 127.0.0.1:${port}`)
  for (const [place, own] of ports.entries())
    configuration = configuration.replace(`127.0.0.1:800${place} `, `127.0.0.1:${own} `)
  await startHaproxy(t, `global\n  stats socket ${administration}\n\n${configuration}`, port)
  const takeBack = (place: number) =>
    until('HAProxy has seen that the process is ready', async () => {
      const states = await serversOf(administration)
      return states[place]?.startsWith('UP') === true
    })
  return { url: `http://127.0.0.1:${port}`, takeBack }
}

/** What HAProxy says of each server, in their order: `UP` or `DOWN`, and more. */
async function serversOf(administration: string): Promise<readonly string[]> {
  const socket = connect(administration)
  socket.end('show stat\n')
  // CSV: the backend, the server, and as the 18th its state.
  const rows = (await text(socket)).split('\n').map((line) => line.split(','))
  return rows.flatMap(([backend, server = '', ...others]) =>
    backend === 'heroes' && server !== 'BACKEND' ? (others[15] ?? '') : [],
  )
}

async function nginx(t: TestContext, ports: readonly number[]): Promise<Balancer> {
  const apps = ports.map((port) => `http://127.0.0.1:${port}`)
  const { url, reload } = await startNginx(t, codeBlock('docs/deployment.md', 'nginx'), apps, '/livez')
  return {
    url,
    leaveOut: (place) =>
      reload((text) => text.replace(`127.0.0.1:${ports[place]};`, `127.0.0.1:${ports[place]} down;`)),
    takeBack: () => reload((text) => text),
  }
}

for (const [name, program, before] of [
  ['HAProxy', 'haproxy', haproxy],
  ['nginx', 'nginx', nginx],
] as const)
  test(
    `behind ${name}, a rolling restart fails no request`,
    { skip: skipWithout(`A rolling restart behind ${name}`, [program]) },
    async (t) => {
      const database = await postgresUrl()
      await withSession(newLifespan(database, { models: [Hero, FeedEvent], sync: true }), async () => {}) // creates the tables
      const ports = [await freePort(), await freePort()]
      const apps = await Promise.all(ports.map((port) => deploy(database, port)))
      const balancer = await before(t, ports)
      const clients = new Clients(t, balancer.url)
      await clients.more(50)
      for (const [place, port] of ports.entries()) {
        await balancer.leaveOut?.(place)
        assert.equal(await apps[place]?.stop('SIGTERM'), 0)
        apps[place] = await deploy(database, port)
        await balancer.takeBack?.(place)
        await clients.more(50)
      }
      await clients.stop()
      assert.deepEqual(
        clients.answers.filter(({ outcome }) => outcome !== '201'),
        [],
      )
      await assertStored(database, clients.acknowledged)
      t.diagnostic(`${clients.answers.length} requests`)
      for (const app of apps) assert.equal(await app.stop('SIGTERM'), 0)
    },
  )
