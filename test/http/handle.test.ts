import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Get, Inject, type Lifespan, provide, token } from 'sequitur'
import type { Unit } from '../../src/core/bracket.js'
import { api } from '../support/api.js'
import { gate } from '../support/waiting.js'

/** A lifespan whose unit of work does nothing, but for what is given. */
function lifespanOf(given: Partial<Unit>): Lifespan {
  const unit: Unit = {
    enter: (work) => work(),
    settle: async () => {},
    commit: async () => {},
    rollback: async () => {},
    hasKept: false,
    committed: async () => {},
    retryAfter: () => undefined,
    ...given,
  }
  return {
    provisions: [],
    adopt() {},
    start: async () => {},
    stop: async () => {},
    unitsOf: () => () => unit,
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
