import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Unit } from '../../src/core/bracket.js'
import { LateBody } from '../../src/http/input/staged-inputs.js'

/** A unit that begins at once, and what that waits for. */
function unitThatBegins() {
  let ready = () => Promise.resolve()
  const unit: Pick<Unit, 'beginAfter'> = { beginAfter: (given) => void (ready = given) }
  return { units: [unit as Unit], begin: () => ready() } // only this method is called
}

test('what waits for the body fails with the run that fails, and the next run waits again', async () => {
  let arrive = () => {}
  const body = new LateBody(() => new Promise((resolve) => (arrive = resolve)))
  const failed = new Error('refused')
  const [first, second] = [unitThatBegins(), unitThatBegins()]
  body.holdBack(first.units)
  const begun = first.begin()
  await assert.rejects(
    body.during(() => Promise.reject(failed)),
    failed,
  )
  await assert.rejects(begun, failed)
  body.holdBack(second.units)
  const begunAgain = second.begin()
  arrive()
  await begunAgain
})

test('the body is received once, at the first time that something waits for it', async () => {
  let received = 0
  const body = new LateBody(async () => void received++)
  const { units, begin } = unitThatBegins()
  body.holdBack(units)
  await body.during(() => undefined)
  assert.equal(received, 0)
  await Promise.all([begin(), begin(), body.received()])
  assert.equal(received, 1)
})
