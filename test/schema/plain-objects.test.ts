import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileEncoder, type Encode } from '../../src/schema/output/encode.js'
import type { ObjectShape, Property, Shape } from '../../src/schema/shape/shape.js'
import { random, runs } from '../support/fuzz.js'

const names = ['id', 'name', 'a b', 'a"b\\', '1', '0', 'Ünïcode\u2028', '$', 'v0', 'source', 'toString', '__proto__']

const scalars: readonly Shape[] = [
  { kind: 'string' },
  { kind: 'string', maxLength: 3 },
  { kind: 'string', minLength: 1, maxLength: 3 },
  { kind: 'string', pattern: '^a' },
  { kind: 'string', asStored: (text) => text.trimEnd() },
  { kind: 'string', binary: true },
  { kind: 'integer' },
  { kind: 'integer', minimum: 0 },
  { kind: 'integer', multipleOf: 2 },
  { kind: 'number', minimum: -1.5, maximum: 1e21 },
  { kind: 'number', exclusiveMinimum: 0 },
  { kind: 'boolean' },
  { kind: 'enum', values: ['a', 1] },
  { kind: 'date-time' },
  { kind: 'date' },
  { kind: 'bigint' },
  { kind: 'decimal' },
  { kind: 'bytes' },
  { kind: 'any' },
]

const values: readonly unknown[] = [
  undefined,
  null,
  '',
  'a',
  'abcd',
  'a😀b',
  'ab😀',
  'a  ',
  '12',
  '-0',
  'true',
  0,
  -0,
  1,
  2,
  -1,
  1.5,
  1e21,
  2 ** 53,
  Number.NaN,
  Infinity,
  true,
  false,
  5n,
  new Date('2026-01-31T12:00:00Z'),
  new Date(Number.NaN),
  Buffer.from('a'),
  [],
  {},
  { toJSON: () => 'json' },
  new Map(),
  Promise.resolve(1),
  Symbol('a'),
]

/** What an encoder returns, with the order of its properties, or how it fails. */
function outcome(encode: Encode, value: unknown): unknown {
  try {
    const json = encode(value)
    return { json, text: JSON.stringify(json) }
  } catch (error) {
    return String(error)
  }
}

test('generated code encodes objects as the encoder does, with its errors', () => {
  const next = random(5)
  const chance = (percent: number) => next(100) < percent
  const pick = <T>(list: readonly T[]): T => list[next(list.length)] as T
  const objectShape = (depth: number): ObjectShape => {
    const properties = new Map<string, Property>()
    for (let left = next(6); left >= 0; left--) {
      const inner: Shape = depth > 0 && chance(30) ? listOrObject(depth - 1) : pick(scalars)
      const shape = { ...inner, ...(chance(30) ? { nullable: true } : {}) }
      properties.set(pick(names), { shape, optional: chance(30), ...(chance(10) ? { associated: true } : {}) })
    }
    return { kind: 'object', name: 'Thing', origin: {}, properties: () => properties }
  }
  const listOrObject = (depth: number): Shape =>
    chance(50) ? objectShape(depth) : { kind: 'array', items: objectShape(depth) }
  const fitting = (shape: Shape): unknown => {
    if (chance(3)) return pick(values)
    switch (shape.kind) {
      case 'object':
        return objectOf(shape)
      case 'array':
        return Array.from({ length: next(3) }, () => fitting(shape.items))
      case 'boolean':
        return chance(50)
      case 'integer':
      case 'number':
        return pick([2, 4, '2', 4n, ...(chance(10) ? [-1, 2 ** 53, 1e22, 1.5] : [])])
      case 'date-time':
      case 'date':
        return new Date('2026-01-31T12:00:00Z')
      case 'bytes':
        return Buffer.from('a')
      case 'bigint':
      case 'decimal':
        return '12'
      case 'enum':
        return pick(shape.values)
      default:
        return pick(['a', 'ab', 'abc', 'a  ', ...(chance(10) ? ['ab😀', 'abcd', 'a\u2028"', ''] : [])])
    }
  }
  const objectOf = (shape: ObjectShape): object => {
    const columns = [...shape.properties()].flatMap(([name, { shape: inner, optional }]) =>
      optional && chance(50) ? [] : [[name, fitting(inner)] as const],
    )
    if (chance(90)) return Object.fromEntries(columns)
    // As an instance of a model that has an alias which is no column.
    return { dataValues: Object.fromEntries(columns), getDataValue() {} }
  }
  const ends = { same: 0, refused: 0 }
  for (let round = 0; round < runs(20_000); round++) {
    const shape = objectShape(2)
    const [encode, reference] = [compileEncoder(shape), compileEncoder(shape, { generated: false })]
    for (let sample = 0; sample < 4; sample++) {
      const value = fitting(shape)
      const expected = outcome(reference, value)
      assert.deepEqual(outcome(encode, value), expected, `round ${round}`)
      ends[typeof expected === 'string' ? 'refused' : 'same']++
    }
  }
  assert.ok(Math.min(ends.same, ends.refused) > runs(5000), JSON.stringify(ends))
})

test('a value that is refused, or refers to itself, is encoded once at each depth', () => {
  const node: ObjectShape = {
    kind: 'object',
    name: 'Node',
    origin: {},
    properties: () =>
      new Map<string, Property>([
        ['n', { shape: { kind: 'integer' }, optional: false }],
        ['next', { shape: node, optional: true }],
      ]),
  }
  const encode = compileEncoder(node)
  const chain = Array.from({ length: 60 }).reduce<object>((next) => ({ n: 1, next }), { n: 'one' })
  assert.throws(() => encode(chain), { name: 'ResponseMismatchError', path: `${'/next'.repeat(60)}/n` })
  const circle = { n: 1, next: {} }
  circle.next = circle
  assert.throws(() => encode(circle), RangeError)
})

test('a property is read once when its object is as declared', () => {
  const item: Shape = { kind: 'object', name: 'A', origin: {}, properties: () => new Map([property('name')]) }
  const encode = compileEncoder(item)
  let reads = 0
  const source = {
    get name() {
      reads++
      return 'a'
    },
  }
  assert.deepEqual([encode(source), reads], [{ name: 'a' }, 1])
})

function property(name: string): [string, Property] {
  return [name, { shape: { kind: 'string' }, optional: false }]
}
