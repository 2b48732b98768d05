import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StaleEvents } from '../../src/feeds/live/stale-events.js'

test('a connection ends within ten minutes, and not before nine', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const events = new StaleEvents([], undefined)
  assert.equal((await events.next()).done, false)
  let isOver = false
  const last = events.next().then(({ done }) => (isOver = done === true))
  await Promise.resolve()
  t.mock.timers.tick(540_000)
  await new Promise(setImmediate)
  assert.equal(isOver, false)
  t.mock.timers.tick(60_000)
  await last
  assert.equal(isOver, true)
})

test('a client that leaves before its first event follows nothing', async () => {
  const events = new StaleEvents([], undefined)
  await events.return()
  assert.equal((await events.next()).done, true)
})
