import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Post, Session } from 'sequitur'
import { databaseApp, sqliteMemory } from '../support/databases.js'
import { Hero, Team } from '../support/hero.js'

/** More than a call takes as arguments. */
const MANY = 200_000

let called = 0

@Controller('/')
class Many {
  @Post('/changes') async changes(session: Session) {
    const first = Hero.build({ name: 'Robin' })
    for (let n = 0; n < MANY; n++) session.add(n === 0 ? first : Hero.build({ name: 'Robin' }, { raw: true }))
    await session.flush()
  }
  @Post('/callbacks') callbacks(session: Session) {
    return session.nested(async () => {
      for (let n = 0; n < MANY; n++) session.afterCommit(() => void called++)
    })
  }
}

test('a flush that fails has its own error, however many changes are left', async (t) => {
  const { fetch } = await databaseApp(t, sqliteMemory, [Team, Hero], [Many], { timeouts: { handler: 60_000 } })
  assert.equal((await fetch('/changes', { method: 'POST' })).status, 409)
  assert.equal(await Hero.count(), 0)
})

test('a savepoint hands on any number of callbacks', async (t) => {
  const { fetch } = await databaseApp(t, sqliteMemory, [Team, Hero], [Many])
  assert.equal((await fetch('/callbacks', { method: 'POST' })).status, 204)
  assert.equal(called, MANY)
})
