import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Post } from 'sequitur'
import { databaseApp, postgres, skipIfShared } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'
import { gate, until } from '../support/waiting.js'
import { watchedNetwork } from '../support/watched-network.js'

/** What Sequelize's types lack. */
interface Pool {
  readonly available: number
  readonly using: number
  destroyAllNow(): Promise<void>
}

test(
  'PostgreSQL: a connection is lost that another request has opened, which holds one itself: the statement is sent again',
  { skip: skipIfShared },
  async (t) => {
    const [first, second, connecting] = [gate(), gate(), gate()]
    let isDelayed = false
    let isLost = false
    const url = await watchedNetwork(t, await postgres.url(), async (bytes, client, upstream) => {
      if (isLost && bytes.includes('START TRANSACTION')) {
        isLost = false
        client.destroy()
        return
      }
      // A connection begins with the length of its first message.
      if (isDelayed && bytes[0] === 0) await connecting.opened
      upstream.write(bytes)
    })
    const waiting: string[] = []
    const hold = async (name: string, opened: Promise<void>) => {
      await Hero.create({ name })
      waiting.push(name)
      await opened
    }
    @Controller('/')
    class Heroes {
      @Post('/first', { status: 204 }) first() {
        return hold('first', first.opened)
      }
      @Post('/second', { status: 204 }) second() {
        return hold('second', second.opened)
      }
      @Post('/third', { status: 204 }) async third() {
        await Hero.create({ name: 'third' })
      }
    }
    const kind = { name: 'PostgreSQL', url: () => Promise.resolve(url) }
    const app = await databaseApp(t, kind, [Hero, Team], [Heroes], { lifespan: { poolSize: 2 } })
    const { pool } = app.database.sequelize.connectionManager as unknown as { pool: Pool }
    await pool.destroyAllNow()
    const post = async (path: string) => (await fetch(app.url + path, { method: 'POST' })).status

    const firstStatus = post('/first')
    await until('the first one holds a connection', () => waiting.includes('first'))
    isDelayed = true
    const secondStatus = post('/second')
    await until('the second one opens another', () => pool.using + pool.available === 1)
    first.open()
    assert.equal(await firstStatus, 204)
    await until('the second one has that of the first', () => waiting.includes('second'))
    connecting.open()
    await until('the other one is open', () => pool.available === 1)
    isLost = true
    assert.equal(await post('/third'), 204)
    assert.ok(!isLost, 'a connection was lost')
    second.open()
    assert.equal(await secondStatus, 204)
  },
)
