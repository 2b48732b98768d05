import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { isWorse } from '../bench/compare/regression.js'
import { spread } from '../bench/compare/results.js'
import { runs } from './support/fuzz.js'

const rounds = fc.array(fc.double({ min: 0.01, max: 1000, noNaN: true }), { minLength: 1, maxLength: 9 })

test('a figure is worse if, and only if, each of its rounds is worse than every round before', () => {
  fc.assert(
    fc.property(rounds, rounds, (before, now) => {
      const all = now.every((value) => before.every((other) => value > other))
      assert.equal(isWorse({ name: 'x', before: spread(before), now: spread(now) }), all)
    }),
    { numRuns: runs(300) },
  )
})
