import assert from 'node:assert/strict'
import { test } from 'node:test'
import { conflict, Controller, Get, Inject, type Lifespan, provide, token } from 'sequitur'
import type { Unit } from '../../src/core/bracket.js'
import { api } from '../support/api.js'
import { gate } from '../support/waiting.js'

/** A lifespan whose unit of work does nothing, but for what is given. */
function lifespanOf(given: Partial<Unit>): Lifespan {
  const unit: Unit = {
    enter: (work) => work(),
    respond: (work) => work(),
    settle: async () => {},
    commit: async () => {},
    rollback: async () => {},
    name: 'a unit',
    hasWritten: false,
    assertCommittable() {},
    hasCommitted: false,
    runCallbacks: async () => {},
    retryAfter: () => undefined,
    ...given,
  }
  return {
    provisions: [],
    adopt() {},
    start: async () => {},
    stop: async () => {},
    unitOpenerOf: () => () => unit,
    findErrorStatus: () => undefined,
  }
}

/** A lock for one at a time, and what happened to it. */
function newLock() {
  const log: string[] = []
  let free = Promise.resolve()
  const take = async (): Promise<AsyncDisposable> => {
    await free
    const { opened, open } = gate()
    free = opened
    log.push('taken')
    return {
      [Symbol.asyncDispose]: async () => {
        log.push('freed')
        open()
      },
    }
  }
  return { log, take }
}

test('a handler that is run again finds what its first run held given back', async (t) => {
  const { log, take } = newLock()
  const lock = token<AsyncDisposable>('lock')
  let runs = 0
  @Controller()
  class Locked {
    @Get() get(@Inject(lock) _lock: AsyncDisposable) {
      if (++runs === 1) throw new Error('a conflict')
      return runs
    }
  }
  const { fetch } = await api(t, [Locked], {
    lifespan: lifespanOf({ retryAfter: (_error, attempt) => (attempt === 0 ? 0 : undefined) }),
    providers: [provide(lock, { factory: take, lifetime: 'request' })],
    timeouts: { handler: 1000 },
  })
  assert.equal(await (await fetch('/')).json(), 2)
  assert.deepEqual(log, ['taken', 'freed', 'taken', 'freed'])
})

test('a handler whose time is up while its arguments are built is not run, however long the rollback takes', async (t) => {
  const rolling = gate()
  const value = token<string>('value')
  let runs = 0
  @Controller()
  class Slow {
    @Get() get(@Inject(value) _value: string) {
      runs++
    }
  }
  const rollback = async () => {
    rolling.open()
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  const { fetch } = await api(t, [Slow], {
    lifespan: lifespanOf({ rollback }),
    providers: [provide(value, { factory: () => rolling.opened.then(() => 'late'), lifetime: 'request' })],
    timeouts: { handler: 20 },
  })
  assert.deepEqual([(await fetch('/')).status, runs], [503, 0])
})

test('a unit that is known to fail at its commit keeps the units before it from being committed', async (t) => {
  const seen: string[] = []
  @Controller()
  class Working {
    @Get() get() {}
  }
  const first = lifespanOf({
    commit: async () => void seen.push('committed'),
    rollback: async () => void seen.push('rolled back'),
  })
  const refusing = lifespanOf({ assertCommittable: () => conflict('no') })
  const { fetch } = await api(t, [Working], { lifespan: [first, refusing] })
  assert.equal((await fetch('/')).status, 409)
  assert.deepEqual(seen, ['rolled back'])
})

/** What keeps a unit of work from ending, and what is given up before its COMMIT. */
const endless = new Promise<never>(() => {})

test('a handler that is given up is answered although its rollback never ends, and closing the app does not wait for it for ever', async (t) => {
  const rolling = gate()
  @Controller()
  class Stuck {
    @Get() get() {
      return endless
    }
  }
  const rollback = () => {
    rolling.open()
    return endless
  }
  const { fetch, close } = await api(t, [Stuck], {
    lifespan: lifespanOf({ rollback }),
    timeouts: { handler: 20, drain: 20 },
  })
  assert.equal((await fetch('/')).status, 503)
  await rolling.opened
  await close()
})

test('values of a request that is given up are disposed after its rollback, before the app is closed', async (t) => {
  const seen: string[] = []
  const rolledBack = gate()
  const value = token<AsyncDisposable>('value')
  @Controller()
  class Stuck {
    @Get() get(@Inject(value) _value: AsyncDisposable) {
      return endless
    }
  }
  const rollback = async () => {
    await rolledBack.opened
    seen.push('rolled back')
  }
  const factory = () => ({ [Symbol.asyncDispose]: async () => void seen.push('disposed') })
  const { fetch, close } = await api(t, [Stuck], {
    lifespan: lifespanOf({ rollback }),
    providers: [provide(value, { factory, lifetime: 'request' })],
    timeouts: { handler: 20 },
  })
  assert.equal((await fetch('/')).status, 503)
  assert.deepEqual(seen, [])
  rolledBack.open()
  await close()
  assert.deepEqual(seen, ['rolled back', 'disposed'])
})

test('a COMMIT is waited for, however long it takes; the answer tells its outcome', async (t) => {
  const committing = gate()
  const aborted = gate()
  @Controller()
  class Slow {
    @Get() get(signal: AbortSignal) {
      signal.addEventListener('abort', aborted.open)
      return 'saved'
    }
  }
  const { fetch } = await api(t, [Slow], {
    lifespan: lifespanOf({ commit: () => committing.opened, runCallbacks: () => endless }),
    timeouts: { handler: 20, drain: 20 },
  })
  const answer = fetch('/')
  await aborted.opened
  committing.open()
  assert.equal(await (await answer).json(), 'saved')
})
