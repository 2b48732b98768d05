import assert from 'node:assert/strict'
import { test } from 'node:test'
import { surelyFits } from '../../src/schema/input/surely-fits.js'
import { COMPONENT, ValidatorCompiler } from '../../src/schema/input/validate.js'
import { SchemaWriter } from '../../src/schema/json-schema/writer.js'
import type { Shape } from '../../src/schema/shape/shape.js'

const BOUNDS = [{}, { minimum: 1 }, { maximum: 1 }, { exclusiveMinimum: 1 }, { exclusiveMaximum: 1 }]
const TEXT_RULES = [{}, { minLength: 1 }, { maxLength: 1 }, { pattern: '^b' }, { format: 'email' }]

const NEVER = { base: { kind: 'integer' }, checks: [{ accepts: () => false, message: 'is never right' }] } as const

const SHAPES: readonly Shape[] = [
  ...BOUNDS.flatMap((bounds): Shape[] => [
    { kind: 'integer', ...bounds },
    { kind: 'number', ...bounds },
    { kind: 'integer', multipleOf: 2, ...bounds },
  ]),
  ...TEXT_RULES.map((rule): Shape => ({ kind: 'string', ...rule })),
  { kind: 'boolean' },
  { kind: 'enum', values: ['a', 1] },
  { kind: 'date' },
  { kind: 'bigint' },
  { kind: 'array', items: { kind: 'string' } },
  { kind: 'integer', customValidation: NEVER },
]

const VALUES = [
  null,
  true,
  0,
  1,
  2,
  1.5,
  -1,
  NaN,
  Infinity,
  2 ** 60,
  '',
  'a',
  'ab',
  '😀',
  '\ud800',
  '\u0000',
  ['a'],
  {},
]

test('a value that surely fits is one that the validator accepts', () => {
  let known = 0
  for (const shape of SHAPES) {
    const schema = new SchemaWriter({ forValidation: true, prefix: COMPONENT }).write(shape, 'input')
    const validate = new ValidatorCompiler(new Map()).compile(schema)
    for (const value of VALUES) {
      if (!surelyFits(shape, value)) continue
      known++
      assert.deepEqual(validate(value), [], `${JSON.stringify(shape)}: ${JSON.stringify(value)}`)
    }
  }
  assert.ok(known > 30, `${known} are recognized`)
})
