import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { stringifyReference, stringifyUntyped, writePlain } from '../../src/schema/output/untyped-value.js'
import { anyCharacter } from '../support/any-character.js'

class Secret {
  readonly word = 'x'
}

const special = fc.constantFrom<unknown>(
  undefined,
  Number.NaN,
  -Infinity,
  -0,
  1e21,
  5n,
  Symbol('s'),
  () => 1,
  new Secret(),
  [new Secret()],
  new Date(0),
  new Date(Number.NaN),
  new Map([[1, 2]]),
  Buffer.from('a'),
  Object(1),
  Object('a'),
  JSON,
  Object.create({ inherited: 1 }),
  { toJSON: () => 'converted' },
  { toJSON: 'no function' },
  Object.assign([1], { toJSON: () => new Secret() }),
  // oxlint-disable-next-line eslint/no-sparse-arrays
  [1, , 2],
  { [Symbol.toStringTag]: 'Tagged' },
  {
    get read() {
      return 'by a getter'
    },
  },
  {
    get failing(): never {
      throw new Error('a getter has failed')
    },
  },
  Object.defineProperty({ shown: 1 }, 'hidden', { value: 2, enumerable: false }),
  JSON.parse('{"__proto__":{"a":1}}'),
  Object.assign(Object.create(null), { a: 1 }),
  // From Node 21 on.
  ...('rawJSON' in JSON
    ? [(JSON as unknown as { rawJSON(text: string): unknown }).rawJSON('12345678901234567890')]
    : []),
)

const value = fc.letrec((part) => ({
  any: fc.oneof(
    { maxDepth: 5 },
    fc.oneof(fc.string({ unit: anyCharacter }), fc.double(), fc.integer(), fc.boolean(), fc.constant(null)),
    special,
    fc.array(part('any'), { maxLength: 10 }),
    fc.dictionary(fc.oneof(fc.constantFrom('a', '0', '__proto__', 'toJSON', 'a"b'), fc.string()), part('any'), {
      maxKeys: 10,
      noNullPrototype: false,
    }),
  ),
})).any

function outcome(work: () => unknown): unknown {
  try {
    return { text: work() }
  } catch (error) {
    return { error: String(error) }
  }
}

test('small plain values are written as all others are, or left to that', () => {
  let short = 0
  let objects = 0
  const seen = (given: unknown) => {
    const text = outcome(() => writePlain(given))
    if (Reflect.get(Object(text), 'text') === undefined) return
    short++
    if (typeof given === 'object' && given !== null) objects++
  }
  fc.assert(
    fc.property(value, (given) => {
      seen(given)
      assert.deepEqual(
        outcome(() => stringifyUntyped(given)),
        outcome(() => stringifyReference(given)),
      )
    }),
    { numRuns: 5000 },
  )
  assert.ok(short > 1000 && objects > 200, `${short} values, ${objects} objects`)
})

test('a value that contains itself, or many parts, is left to that, too', () => {
  const circular: Record<string, unknown> = {}
  circular['self'] = [circular]
  assert.equal(writePlain(circular), undefined)
  assert.throws(() => stringifyUntyped(circular), /contains itself/)
  assert.equal(writePlain(Array.from({ length: 100 }, () => 1)), undefined)
})

test('each part is read once, so that what is written is what was looked at', () => {
  let reads = 0
  const changing = {
    get part() {
      return reads++ === 0 ? 'plain' : new Secret()
    },
  }
  assert.equal(stringifyUntyped(changing), '{"part":"plain"}')
})
