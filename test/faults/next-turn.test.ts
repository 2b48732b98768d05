import assert from 'node:assert/strict'
import { AsyncLocalStorage } from 'node:async_hooks'
import { readFile } from 'node:fs'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Controller, Post } from 'sequitur'
import { nextTurn } from '../../src/core/promises.js'
import { databaseApp, databases } from '../support/databases.js'
import { random, runs } from '../support/fuzz.js'
import { Hero, Team } from '../support/hero.js'
import { until } from '../support/waiting.js'

/*
 * A commit waits for one turn of the event loop, for what the handler has not awaited. Requests that wait for the same turn continue together.
 */

const REQUESTS = 40

/** The next turn, without the others who wait for it. */
const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

@Controller('/')
class Careless {
  static count = 0
  @Post() create() {
    void this.#later()
  }
  async #later() {
    const name = `Robin ${++Careless.count}`
    await turn()
    await Hero.create({ name })
  }
}

for (const kind of databases) {
  test(`${kind.name}: what a handler has not awaited gets its turn, however many requests wait for it`, async (t) => {
    const app = await databaseApp(t, kind, [Team, Hero], [Careless])
    for (let round = 1; round <= 5; round++) {
      const post = () => app.fetch('/', { method: 'POST' }).then(({ status }) => status)
      const statuses = await Promise.all(Array.from({ length: REQUESTS }, post))
      assert.deepEqual([...new Set(statuses)], [204])
      assert.equal(await Hero.count(), round * REQUESTS, app.log.join('\n'))
    }
  })
}

const steps: readonly (() => Promise<unknown>)[] = [
  turn,
  () => Promise.resolve(),
  () => new Promise((resolve) => setTimeout(resolve, 1)),
  () => new Promise((resolve) => readFile(new URL(import.meta.url), resolve)),
  () => new Promise<void>((resolve) => process.nextTick(resolve)),
]

test(
  'who waits for the next turn continues after it, and one turn later at most, whoever else waits',
  { timeout: 20_000 },
  async (t) => {
    const pick = random(34)
    let waits = 0
    const wait = async () => {
      let turns = 0
      const count = async () => {
        for (; turns < 3; turns++) await turn()
      }
      void count()
      await nextTurn()
      waits++
      assert.ok(turns === 1 || turns === 2, `It continued after ${turns} turns.`)
    }
    const work = async () => {
      for (let step = 0; step < 10; step++) {
        await steps[pick(steps.length)]?.()
        if (pick(2) === 0) await wait()
      }
    }
    // Who begins to wait in each turn, and before the others, must hold up no one.
    const done = new AbortController()
    const crowd = async () => {
      while (!done.signal.aborted) {
        void nextTurn()
        await turn()
      }
    }
    t.after(() => done.abort())
    void crowd()
    void crowd()
    for (let round = 0; round < runs(80); round++) await Promise.all(Array.from({ length: 20 }, work))
    assert.ok(waits > 0)
  },
)

test('who waits for the same turn continues in the same round of microtasks', async () => {
  const order: string[] = []
  const wait = (name: string) => nextTurn().then(() => order.push(name))
  const first = wait('first')
  setImmediate(() => order.push('between them'))
  await Promise.all([first, wait('second')])
  assert.deepEqual(order, ['between them', 'first', 'second'])
})

test('a callback that never runs holds up no other', { timeout: 10_000 }, async (t) => {
  t.mock.timers.enable({ apis: ['setImmediate'] })
  const waiting = [nextTurn()]
  t.mock.timers.reset()
  waiting.push(nextTurn())
  await Promise.all(waiting)
})

test('nothing is kept of who has waited', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const storage = new AsyncLocalStorage<object>()
  const wait = async () => {
    const store = {}
    await storage.run(store, nextTurn)
    return new WeakRef(store)
  }
  const kept = await wait()
  await until('it is collected', () => {
    collect()
    return kept.deref() === undefined
  })
})

test('who continues has its own asynchronous context', async () => {
  const storage = new AsyncLocalStorage<number>()
  const numbers = Array.from({ length: 20 }, (_, index) => index)
  const wait = async () => {
    await nextTurn()
    return storage.getStore()
  }
  assert.deepEqual(await Promise.all(numbers.map((number) => storage.run(number, wait))), numbers)
})
