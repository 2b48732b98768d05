import assert from 'node:assert/strict'
import { test } from 'node:test'
import { atLeastPattern, atMostPattern } from '../../src/schema/patterns/range-pattern.js'

const bounds = [
  '0',
  '1',
  '9',
  '10',
  '99',
  '100',
  '105',
  '0.5',
  '0.05',
  '9.99',
  '10.01',
  '12.34',
  '99.90',
  '1234567',
].flatMap((bound) => [bound, `-${bound}`])

/** Numbers around each bound, and of other lengths. */
const around = bounds.flatMap((bound) => {
  const near = [-1, -0.1, -0.01, -0.001, 0, 0.001, 0.01, 0.1, 1].map((step) => (Number(bound) + step).toFixed(3))
  return near.flatMap((text) => [text, text.replace(/0$/, ''), text.replace(/\.?0+$/, '')])
})
const far = '5 50 500 -5 -50 -500 0.0 -0 -0.00 99999999999999999999 -99999999999999999999 7.123456789'.split(' ')
const numbers = [...new Set([...around, ...far])].filter((text) => /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text))

for (const bound of bounds) {
  test(`of all numbers as text, exactly those >= ${bound} and those <= ${bound} match`, () => {
    const [least, most] = [
      new RegExp(atLeastPattern(bound) as string, 'u'),
      new RegExp(atMostPattern(bound) as string, 'u'),
    ]
    for (const number of numbers) {
      assert.equal(least.test(number), Number(number) >= Number(bound), `${number} >= ${bound} ${least.source}`)
      assert.equal(most.test(number), Number(number) <= Number(bound), `${number} <= ${bound} ${most.source}`)
    }
  })
}

test('a bound that is not written in digits has no pattern', () => {
  for (const bound of ['1e21', 'NaN', '', 'ten'])
    assert.deepEqual([atLeastPattern(bound), atMostPattern(bound)], [undefined, undefined])
})
