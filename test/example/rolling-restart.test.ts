// Waits for seconds: the checks of a balancer.
import assert from 'node:assert/strict'
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
import { serve, type Served } from '../support/processes.js'
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
  let text = codeBlock('docs/deployment.md', 'haproxy').replace('bind :8080', `bind 127.0.0.1:${port}`)
  for (const [place, own] of ports.entries()) text = text.replace(`127.0.0.1:800${place} `, `127.0.0.1:${own} `)
  await startHaproxy(t, text, port)
  return { url: `http://127.0.0.1:${port}`, takeBack: () => new Promise((resolve) => setTimeout(resolve, 2_000)) }
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
