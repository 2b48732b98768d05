import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Controller, Field, Get, newPagination, Query, type ValueOptions } from 'sequitur'
import { newCursorPagination } from 'sequitur/cursor'
import { bootMessage } from '../support/api.js'
import { componentsOf, echo, sample } from '../support/echo.js'
import type { SizeOptions } from '../../src/paging/paginator.js'

class Cat {
  @Field({ enum: ['cat'] }) kind!: 'cat'
}

/** Options of a field that cannot be, and what is said of them. */
const mistakes: readonly (readonly [options: object, message: RegExp])[] = [
  [{ enum: [] }, /enum has no values, so no value would be valid\. Write them, as in enum: \['asc', 'desc'\]/],
  [{ enum: {} }, /enum has no values/],
  [{ enum: 'asc' }, /enum is 'asc'\. Write a list, as in enum: \['asc', 'desc'\], or a TypeScript enum/],
  [{ enum: null }, /enum is null\. Write a list/],
  [{ enum: undefined }, /^@Field\(\{ enum: undefined \}\) on Sample\.value: Either its name is misspelt/],
  [{ enum: ['a', null] }, /enum has the value null\. Write nullable: true instead/],
  [{ enum: [true] }, /enum has the value true\. Use strings and finite numbers/],
  [{ enum: [NaN] }, /enum has the value NaN/],
  [{ type: String, enum: ['a', 1] }, /enum has the value 1, but its type is string\. Write values of that type/],
  [{ type: Number, enum: ['a'] }, /enum has the value 'a', but its type is number/],
  [{ type: ['integer'], enum: ['a'] }, /enum has the value 'a', but its type is number/],
  [{ type: 'boolean', enum: ['a'] }, /enum has the value 'a', but its type is boolean/],
  [{ oneOf: [] }, /oneOf is empty\. Write the classes: \[Cat, Dog\]/],
  [{ oneOf: undefined }, /^@Field\(\{ oneOf: undefined \}\) on Sample\.value: Either its name is misspelt/],
  [{ oneOf: Cat, discriminator: 'kind' }, /oneOf takes a list, got the class Cat\. Write \[Cat, Dog\]/],
  [{ oneOf: [Cat, undefined], discriminator: 'kind' }, /oneOf\[1\] is undefined: .*Refer to it by a function: \(\) =>/],
  [{ oneOf: [Cat] }, /^Sample\.value: oneOf requires the property that distinguishes its classes/],
  [{ type: 'string', discriminator: 'kind' }, /discriminator has no effect without oneOf/],
  [{ type: 'intger' }, /'intger' is not a type\. Did you mean 'integer'\?$/],
  [{ type: 'datetime' }, /'datetime' is not a type\. Did you mean 'date-time'\?$/],
  [{ type: 'float' }, /'float' is not a type\. Use one of string, integer, number,/],
  [{ type: [String, Number] }, /a list is not a type\. Write \[Item\] for a list of one class, oneOf:/],
  [{ type: 5 }, /5 is not a type\. Use a class with @Field\(\) properties/],
  [{ type: 'string', pattern: 5 }, /pattern is 5\. Write a regular expression, as in \/\^\[a-z\]\+\$\/\.$/],
  [{ type: 'string', format: null }, /null is not a known format\. Use one of date-time,/],
  [{ type: 'number', multipleOf: 0 }, /multipleOf is 0\. Write a number above 0/],
  [{ type: 'number', multipleOf: -1 }, /multipleOf is -1\. Write a number above 0/],
  ...['nullable', 'optional', 'deprecated'].map(
    (name) =>
      [{ type: 'string', [name]: 'no' }, new RegExp(`${name} is of type string\\. Write true or false`)] as const,
  ),
  ...['minLength', 'maxLength'].flatMap((name) =>
    ['1', -1, 1.5, NaN, Infinity].map((value) => [{ type: 'string', [name]: value }, notWhole(name)] as const),
  ),
  ...['minItems', 'maxItems'].flatMap((name) =>
    ['1', -1, 1.5, NaN, Infinity].map((value) => [{ type: [String], [name]: value }, notWhole(name)] as const),
  ),
  ...['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'].flatMap((name) =>
    ['1', NaN, Infinity, null, 1n].map(
      (value) =>
        [{ type: 'number', [name]: value }, new RegExp(`: ${name} is .*\\. Write a number, or leave`)] as const,
    ),
  ),
]

function notWhole(name: string): RegExp {
  return new RegExp(`: ${name} is .*\\. Write a whole number from 0\\.$`)
}

for (const [options, message] of mistakes) {
  test(`a field fails at startup where ${message.source.replace(/^\W*/, '').slice(0, 50)} (${Object.keys(options)})`, () => {
    assert.throws(() => echo(sample(Field(options))), { name: /^(Boot|Injection)Error$/, message })
    assert.throws(() => echo(sample(Field(options))), /Sample\.value/)
  })
}

/** Two bounds, and whether a value may be equal to both. */
const pairs = [
  ['string', 'minLength', 'maxLength', true],
  [[String], 'minItems', 'maxItems', true],
  ['number', 'minimum', 'maximum', true],
  ['number', 'minimum', 'exclusiveMaximum', false],
  ['integer', 'exclusiveMinimum', 'maximum', false],
  ['integer', 'exclusiveMinimum', 'exclusiveMaximum', false],
] as const

for (const [type, lower, upper, mayBeEqual] of pairs) {
  test(`${lower} beyond ${upper} fails at startup, with the way out`, () => {
    const boot = (least: number, most: number) => echo(sample(Field({ type, [lower]: least, [upper]: most })))
    const message = new RegExp(
      `Sample\\.value: no value can meet both ${lower} \\d and ${upper} \\d\\..*write the smaller one as ${lower}`,
    )
    assert.throws(() => boot(3, 2), { message })
    if (mayBeEqual) boot(2, 2)
    else assert.throws(() => boot(2, 2), { message })
    boot(2, 3)
  })
}

/** Options, defaults that fit them, and defaults that do not. */
const defaults: readonly (readonly [options: ValueOptions, good: unknown[], bad: unknown[]])[] = [
  [{ type: 'string' }, ['', 'a'], [1, true, null, new Date(0), ['a']]],
  [{ type: 'number' }, [0, -1.5], ['1', NaN, Infinity, 1n, true]],
  [{ type: 'integer' }, [0, -1], ['1', 1.5, 2 ** 53]],
  [{ type: 'boolean' }, [true, false], ['true', 0, 1]],
  [{ type: 'string', nullable: true }, [null, 'a'], [1]],
  [{ type: 'string', minLength: 1 }, ['a'], ['']],
  [{ type: 'string', maxLength: 1 }, ['a', '🎉'], ['ab']],
  [{ type: 'string', pattern: '^a' }, ['a'], ['b']],
  [{ type: 'string', format: 'email' }, ['a@b.co'], ['a']],
  [{ type: 'number', minimum: 1 }, [1], [0]],
  [{ type: 'number', exclusiveMaximum: 1 }, [0], [1]],
  [{ type: 'number', multipleOf: 0.5 }, [1.5], [1.2]],
  [{ enum: ['a', 1] }, ['a', 1], ['b', '1']],
  [{ type: [String], minItems: 1 }, [['a']], [[], 'a', [1]]],
  [
    { type: [Cat], maxItems: 1 },
    [[], [{ kind: 'cat' }]],
    [[{ kind: 'dog' }], [{}], [{ kind: 'cat' }, { kind: 'cat' }]],
  ],
  [{ type: 'decimal' }, ['1.50'], ['a', '01']],
  [{ type: 'date' }, ['2026-01-31'], ['2026-02-30', 5]],
  [{ type: 'bytes' }, [Buffer.from('a')], ['YQ==']],
]

for (const [options, good, bad] of defaults) {
  test(`a default fits ${JSON.stringify(options)}, or fails at startup`, async () => {
    for (const value of good) {
      const seen: { value: unknown }[] = []
      await echo(sample(Field({ ...options, default: value })), seen).send({})
      assert.deepEqual(JSON.stringify(seen[0]?.value), JSON.stringify(value))
    }
    for (const value of bad)
      assert.throws(() => echo(sample(Field({ ...options, default: value }))), {
        message: /^Sample\.value: its default .*\. Write one that fits/,
      })
  })
}

const written = [
  ['date-time', '2026-01-31T12:00:00Z', new Date('2026-01-31T12:00:00Z')],
  ['bigint', '9007199254740993', 9007199254740993n],
  ['bigint', 5, 5n],
  ['decimal', 1.5, '1.5'],
] as const

for (const [type, value, given] of written) {
  test(`a handler is given the default ${value} as the type ${type} has it`, async () => {
    const seen: { value: unknown }[] = []
    await echo(sample(Field({ type, default: value })), seen).send({})
    assert.deepEqual(seen[0]?.value, given)
  })
}

test('a default in the parameter list fits the rules beside it, or fails at startup', () => {
  @Controller()
  class Heroes {
    @Get('/') list(@Query({ type: 'integer', minimum: 1 }) limit: number = 0) {
      return limit
    }
  }
  assert.match(
    bootMessage([Heroes]),
    /^InjectionError: Heroes\.list, parameter 1 'limit': its default 0 must be >= 1\. Write/,
  )
})

const makers: Readonly<Record<string, (options: SizeOptions) => unknown>> = { newPagination, newCursorPagination }
for (const [name, make] of Object.entries(makers)) {
  for (const option of ['defaultPageSize', 'maxPageSize', 'default_page_size', 'max_page_size'] as const) {
    for (const size of ['10', NaN, 0, -1, 1.5, Infinity, null]) {
      test(`${name}({ ${option}: ${typeof size} ${size} }) is refused`, () => {
        const message = new RegExp(
          `^newPagination\\(\\): ${option} is '?${size}'?\\. Write a whole number of rows, from 1`,
        )
        assert.throws(() => make({ [option]: size as never }), { name: 'BootError', message })
      })
    }
  }

  test(`${name}() of a default beyond the largest, or of one size in two spellings, is refused`, () => {
    const message =
      /larger than maxPageSize \((5|100)\)\. Write a defaultPageSize from 1 to \1, or a larger maxPageSize\.$/
    assert.throws(() => make({ maxPageSize: 5 }), { name: 'BootError', message })
    assert.throws(() => make({ default_page_size: 500 }), { name: 'BootError', message })
    const same = /defaultPageSize and default_page_size are the same option\. Write one of them\.$/
    assert.throws(() => make({ defaultPageSize: 5, default_page_size: 6 }), { name: 'BootError', message: same })
  })
}

const examples = [
  ['bigint', 9007199254740993n, '9007199254740993'],
  ['date-time', new Date(0), '1970-01-01T00:00:00.000Z'],
  ['bytes', Buffer.from('a'), 'YQ=='],
  [[Number], [1, 2], [1, 2]],
  [Cat, { kind: 'cat' }, { kind: 'cat' }],
] as const

for (const [type, example, json] of examples) {
  test(`an example of ${String(type)} is documented as JSON`, () => {
    for (const options of [{ example }, { examples: [example] }]) {
      const properties = componentsOf(echo(sample(Field({ type, ...options }))).app)['Sample']?.properties
      assert.deepEqual((properties?.['value'] as { examples?: unknown } | undefined)?.examples, [json])
    }
  })
}

test('an example that does not fit its property fails at startup', () => {
  const boot = (options: object) => () => echo(sample(Field(options)))
  assert.throws(boot({ type: 'integer', example: '5' }), {
    message: /^Sample\.value: its example is '5', declared integer/,
  })
  assert.throws(boot({ type: 'string', maxLength: 1, examples: ['a', 'ab'] }), {
    message: /its example 'ab' must have/,
  })
  assert.throws(boot({ type: 'string', examples: 'a' }), {
    message: /^Sample\.value: examples takes a list, got a string/,
  })
})
