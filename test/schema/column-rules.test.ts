// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DataTypes, Model, type ModelStatic, type ModelValidateOptions, Sequelize } from 'sequelize'
import { dto } from 'sequitur'
import { componentsOf, echo, issuesOf } from '../support/echo.js'
import { newAjv } from '../support/json-schema.js'

const texts = [
  '',
  ' ',
  '\t\n',
  'a',
  'b',
  'A',
  'ab',
  'abc',
  'abcd',
  '🎉🎉',
  'ñ',
  '0',
  '1',
  '12',
  '1.5',
  '-3',
  'a@b.co',
  'ü@example.com',
]
  .concat([
    'a@b',
    'https://example.com/a?b',
    'example.com',
    'localhost',
    'ftp://x',
    '10.0.0.1',
    '::1',
    '999.1.1.1',
    'null',
    'true',
  ])
  .concat([
    '0198a3c4-7b1e-4000-8000-000000000001',
    '0198a3c4-7b1e-7000-8000-000000000001',
    '2026-01-31',
    'x'.repeat(40),
  ])
const integers = [0, -1, 1, 2, 3, 5, 10, 99, 100, 101, 1000, -1000, 2147483647]
const numbers = [...integers, 0.5, 1.5, -0.25, 99.99]
const bigints = [...integers.map(String), '9007199254740993', '-9007199254740993']
const decimals = ['0', '-0.5', '1', '1.0', '1.50', '2', '9.99', '10', '10.01', '99.99', '-3']
const times = ['2020-01-01T00:00:00Z', '2026-01-31T12:00:00Z', '1999-12-31T23:59:59Z']
const days = ['2020-01-01', '2026-01-31', '1999-12-31']

const { STRING, TEXT, CHAR, INTEGER, BIGINT, DECIMAL, DOUBLE, BOOLEAN, DATE, DATEONLY, UUID } = DataTypes

const columns: readonly (readonly [type: unknown, values: readonly unknown[], rules: readonly object[]])[] = [
  [
    STRING,
    texts,
    [
      { len: [2, 3] },
      { len: [2] },
      { len: { args: [0, 3], msg: 'at most three' } },
      { notEmpty: true },
      { notEmpty: { msg: 'say something' } },
      { isEmail: true },
      { isEmail: { msg: 'no address' } },
      { isUrl: true },
      { isUUID: 4 },
      { isUUID: { args: [4], msg: 'no version 4' } },
      { isIP: true },
      { isIPv4: true },
      { isIPv6: true },
      { isIn: [['a', 'b', 'ñ']] },
      { isIn: { args: [['a', '1']], msg: 'a or 1' } },
      { isIn: [[1, 12]] },
      { isIn: [[null, true, 1.5]] },
      { notIn: [['a', 'b']] },
      { is: /^[a-z]+$/ },
      { is: /^[a-z]+$/i },
      { is: ['^[a-z]+$', 'i'] },
      { is: /^(?:[^b-d]|ab?\.?c\b)+$/i },
      { is: /^[!-B\s.]|[x-]{2,40}$/i },
      { is: '^[a-c]+$' },
      { not: /[0-9]/ },
      { not: ['[a-z]', 'i'] },
      { isAlpha: true },
      { isAlphanumeric: true },
      { isNumeric: true },
      { isInt: true },
      { isFloat: true },
      { isDecimal: true },
      { contains: '.' },
      { equals: '1.5' },
      { isAlpha: true, notEmpty: true, contains: 'b' },
      { isLowercase: true },
      { isUppercase: true },
      { isDate: true },
      { isNull: true },
      { contains: 'a' },
      { notContains: 'a' },
      { equals: 'abc' },
      { min: 1, max: 10 },
      { isEmail: true, len: [0, 10], notIn: [['a@b.co']] },
    ],
  ],
  [TEXT, texts, [{ len: [1, 2] }, { isUrl: true }, { isCreditCard: true }]],
  [CHAR(3), ['a', 'abc', ''], [{ len: [2, 3] }, { isIn: [['a', 'abc']] }]],
  [
    INTEGER,
    integers,
    [
      { min: 1 },
      { max: 100 },
      { min: { args: [2], msg: 'too few' }, max: { args: [99], msg: 'too many' } },
      { min: '5' },
      { isIn: [[1, 2, 3]] },
      { isIn: [['1', '2', '03']] },
      { notIn: [[1, 2]] },
      { len: [2, 3] },
      { isInt: true },
      { is: /^[0-9]$/ },
    ],
  ],
  [DOUBLE, numbers, [{ min: 0.5 }, { max: 99 }, { isIn: [[0.5, 1.5]] }, { isInt: true }]],
  [
    BIGINT,
    bigints,
    [
      { min: 1, max: 100 },
      { min: 0 },
      { isIn: [[1, 2]] },
      { isIn: [['1', '9007199254740993']] },
      { notIn: [['0']] },
      { len: [2, 3] },
    ],
  ],
  [
    DECIMAL(10, 2),
    decimals,
    [{ min: 0 }, { min: 1, max: 10 }, { max: 9.99 }, { isIn: [[1, '9.99']] }, { isDecimal: true }],
  ],
  [BOOLEAN, [true, false], [{ isIn: [[true]] }, { equals: 'true' }]],
  [DATE, times, [{ isAfter: '2020-06-01' }, { isBefore: '2020-06-01' }, { isDate: true }]],
  [DATEONLY, days, [{ isAfter: '2020-06-01' }, { isBefore: { args: '2020-06-01', msg: 'too late' } }]],
  [UUID, texts.filter((text) => /^.{8}-/.test(text)), [{ isUUID: 4 }]],
]

const sequelize = new Sequelize('mariadb://localhost/none', { logging: false })

async function isValid(model: ModelStatic<Model>, value: unknown): Promise<boolean> {
  return model
    .build({ value })
    .validate({ hooks: false })
    .then(
      () => true,
      () => false,
    )
}

/** The rules of texts that the document says in full. */
const SAID = new Set([
  'notEmpty',
  'is',
  'not',
  'isAlpha',
  'isAlphanumeric',
  'isNumeric',
  'isInt',
  'isDecimal',
  'contains',
  'notContains',
  'equals',
])

for (const [type, values, all] of columns) {
  for (const rules of all) {
    for (const allowNull of [true, false]) {
      const what = `${String((type as { key?: string }).key)}${allowNull ? '' : ' NOT NULL'} with ${inspect(rules)}`
      test(`${what} takes what Sequelize takes, and the document says so`, async () => {
        class Ruled extends Model {}
        const validate = rules as ModelValidateOptions
        Ruled.init(
          {
            id: { type: INTEGER, primaryKey: true, autoIncrement: true },
            value: { type: type as never, allowNull, validate },
          },
          { sequelize, timestamps: false },
        )
        class NewRuled extends dto(Ruled as never, { omit: ['id'] as never }) {}
        const { app, send } = echo(NewRuled)
        const documented = newAjv().compile(componentsOf(app)['NewRuled'] ?? {})
        for (const value of [...values, null]) {
          const response = await send({ value })
          const accepted = response.statusCode === 201
          assert.equal(
            accepted,
            await isValid(Ruled, decoded(type, value)),
            `${JSON.stringify(value)} ${response.body}`,
          )
          if (accepted)
            assert.ok(documented({ value }), `${JSON.stringify(value)} ${JSON.stringify(documented.errors)}`)
          else assert.equal(issuesOf(response).length >= 1, true)
          if (!accepted && type === STRING && Object.keys(rules).every((name) => SAID.has(name)))
            assert.ok(
              !documented({ value }),
              `${JSON.stringify(value)} is refused, and documented as one that is taken`,
            )
        }
      })
    }
  }
}

// What a handler is given of the JSON.
function decoded(type: unknown, value: unknown): unknown {
  return type === DATE && typeof value === 'string' ? new Date(value) : value
}

function inspect(rules: object): string {
  return JSON.stringify(rules, (_, part: unknown) => (part instanceof RegExp ? String(part) : part))
}

for (const rules of [{ isEmail: true }, { isUrl: true }, { len: [1, 9] }, { is: /^./ }, { isByteLength: [1, 9] }]) {
  test(`half of a surrogate pair is a 422 where a column says ${inspect(rules)}`, async () => {
    class Ruled extends Model {}
    Ruled.init({ value: { type: STRING, validate: rules as ModelValidateOptions } }, { sequelize, timestamps: false })
    class NewRuled extends dto(Ruled as never, { omit: ['id'] as never }) {}
    for (const value of ['\ud800', 'a@b.co\udc00']) {
      const issues = issuesOf(await echo(NewRuled).send({ value }))
      assert.deepEqual(issues, ['/value must not contain U+0000 or half of a surrogate pair'])
    }
  })
}

test('the message of a validator of a model is sent to the client', async () => {
  class Ruled extends Model {}
  Ruled.init(
    {
      name: {
        type: STRING(20),
        allowNull: false,
        primaryKey: true,
        validate: { len: { args: [2, 4], msg: 'two to four' }, isAlpha: true },
      },
      price: { type: DECIMAL(5, 2), allowNull: false, validate: { min: { args: [1], msg: 'too cheap' } } },
      kind: { type: INTEGER, allowNull: false, validate: { isIn: [[1, 2]] } },
    },
    { sequelize, timestamps: false },
  )
  const NewRuled = dto(Ruled as unknown as new () => object, { name: 'NewRuled' })
  const issues = issuesOf(await echo(NewRuled).send({ name: '1', price: '0.50', kind: 3 }))
  assert.deepEqual(issues, [
    '/name two to four',
    '/name must pass the rule isAlpha',
    '/price too cheap',
    '/kind must be one of 1, 2',
  ])
})
