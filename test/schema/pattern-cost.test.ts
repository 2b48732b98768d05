// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, dto, Field, newLifespan, Post, Query } from 'sequitur'
import { patternCost } from '../../src/schema/patterns/pattern-cost.js'
import { bootMessage } from '../support/api.js'
import { echo, sample } from '../support/echo.js'

/** Patterns, and the power of a text's length with which they take time. */
const powers: readonly (readonly [pattern: RegExp, power: number])[] = [
  [/^[a-z]+$/, 1],
  [/[a-z]+/, 1],
  [/\S/, 1],
  [/^[a-z]+(?:-[a-z]+)*$/, 1],
  [/^[\w.+-]+@[\w-]+\.[\w.-]+$/, 1],
  [/^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/, 1],
  [/^(?=.*[A-Z])(?=.*\d).{8,}$/, 1],
  [/^(?!.*--)[a-z-]+$/, 1],
  [/^#?([a-f0-9]{6}|[a-f0-9]{3})$/, 1],
  [/^(?:(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)\.){3}(?:25[0-5]|2[0-4]\d|1\d\d|[1-9]?\d)$/, 1],
  [/^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/, 1],
  [/^(?:\w+\s)*\w+$/, 1],
  [/^(a|ab)*$/, 1],
  [/^(a?)*$/, 1],
  [/^.*\.pdf$/, 1],
  [/^\p{Lu}+\p{Ll}+$/u, 1],
  [/^[a-z]{1,20} ?[a-z]{1,20}$/, 1],
  [/^[\]a]+\]$/, 1],
  [/\s+$/, 2],
  [/^\s+|\s+$/, 2],
  [/.*foo/, 2],
  [/^.*,.*$/, 2],
  [/^\S+@\S+$/, 2],
  [/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 2],
  [/^\d+\.?\d*$/, 2],
  [/^\p{L}+\w+$/u, 2],
  [/^(a+)\1$/, 2],
  [/(?<=\s*)x/, 2],
  [/^a*a*a*$/, 3],
  [/a.*b.*c/, 3],
  [/(?=a*b)^c/, 2],
  [/^(?:(?=a*b)a)*$/u, 2],
  [/^(?:a(?<=b*))*$/u, 2],
  [/^(a*)b\1c\1$/u, 2],
  [/^\p{Lu}*\p{Script=Greek}*\p{Lt}*$/u, 3],
  [/^(a+)+$/, Infinity],
  [/^(a|a)*$/, Infinity],
  [/^(a*b?)*$/, Infinity],
  [/^(?:a|b|ab)*c$/, Infinity],
  [/^(\w+\s?)*$/, Infinity],
  [/^(x+x+)+y$/, Infinity],
  [/^(.*?,){11}P/, Infinity],
  [/^(\w{1,30}\s?){1,20}$/, Infinity],
  [/^(https?:\/\/)?([\da-z.-]+)\.([a-z.]{2,6})([/\w .-]*)*\/?$/, Infinity],
]

/** Patterns as programs have them, of fields without a `maxLength`. */
const ordinary: readonly RegExp[] = [
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/u,
  /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/u,
  /^[a-z0-9]+(?:-[a-z0-9]+)*$/u,
  /^(?:[a-z]+-)*[a-z]+$/u,
  /^[A-Z]{2}\d{4,10}$/u,
  /^\d{5}(?:-\d{4})?$/u,
  /^[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}$/u,
  /^[A-Z]{2}\d{2}[A-Z\d]{4}\d{7}(?:[A-Z\d]?){0,16}$/u,
  /^(?:\d ?){13,19}$/u,
  /^\+?\d{1,3}[ -]?\d{1,4}[ -]?\d{1,4}[ -]?\d{1,4}$/u,
  /^(?:\d{1,3})?$/u,
  /^(?:\d{0,3}){2}$/u,
  /^(?:[A-Z]?){3}$/u,
  /^#(?:[\da-f]{3}){1,2}$/u,
  /^[0-9a-f]{8}-[0-9a-f]{4}-[1-5][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u,
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/u,
  /^v?(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[\da-zA-Z-]+(?:\.[\da-zA-Z-]+)*)?$/u,
  /^https?:\/\/[a-z0-9.-]+(?::\d{1,5})?(?:\/\S*)?$/u,
  /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)(?=.*[^\w\s]).{8,72}$/u,
  /^\p{L}[\p{L}\p{M} '-]*$/u,
  /^\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)*$/u,
  /^(?!-)[a-z-]+(?<!-)$/u,
]

for (const pattern of ordinary)
  test(`the pattern ${pattern} needs no bound`, () => {
    echo(sample(Field({ type: 'string', pattern })))
  })

/** Patterns that try many ways for short inputs, and the longest input that is taken. */
const costly: readonly (readonly [pattern: RegExp, longestInput: number])[] = [
  [/^(?:a?){30}b$/u, 5],
  [/^(?:[A-Z]?){30}$/u, 5],
  [/^(?:[a-z]?){12,}$/u, 3],
  [/^(?:(?:a?){2}){12}$/u, 6],
  [/^(?:a|b*){6}$/u, 5],
  [/^a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?$/u, 6],
  [/^(?:\b|\b|\b){12}y$/u, 0],
  [/^a(?:|){30}$/u, 0],
  [/^(?:||){12}x?$/u, 0],
  [/^(?:(?:|){30}a?)*b/u, 0],
  [/^(?:\p{Lu}|\p{Script=Greek})+$/u, 8],
  [/^(?:\p{Emoji_Modifier_Base}\p{Emoji_Modifier}?|\p{Emoji})+$/u, 8],
  [/^(?:\p{Lu}\p{Ll}*|\p{L}\p{M}*)+$/u, 8],
  [/^(?:[à-ÿ]|É)+$/i, 8],
  [/^(?:k|\u212a)+$/iu, 8],
  [/^(?:👍|\ud83d\udc4d)+$/u, 8],
  [/^👍*\udc4d*$/, 256],
  [new RegExp('^(?:\\u{3}|uuu)+$'), 8],
  [new RegExp('^(?:\\012|\\n)+$'), 8],
  [/^a*b(?<=c(?:a|a)*b)$/u, 8],
  [/^a*b(?<!c(?:a|a){30}b)$/u, 0],
  [/^(?=(?:a|a)*$)/u, 8],
  [/^(?!(?:a|a)*$)b/u, 8],
]

for (const [pattern, longestInput] of costly)
  test(`the pattern ${pattern} is taken for texts of at most ${longestInput} characters`, () => {
    assert.equal(patternCost(pattern).longestInput, longestInput)
  })

test('a class of strings is taken to match any string', () => {
  assert.equal(patternCost(new RegExp('^(?:[\\q{ab|a}]|b)*$', 'v')).degree, Infinity)
  assert.equal(patternCost(new RegExp('^\\p{RGI_Emoji}$', 'v')).degree, 1)
})

test('a pattern of many ways is refused at the start, with the bound that makes it cheap', () => {
  const start = (maxLength?: number) =>
    echo(sample(Field({ type: 'string', pattern: /^(?:[A-Z]?){30}$/u, ...(maxLength && { maxLength }) })))
  start(5)
  for (const maxLength of [undefined, 6])
    assert.throws(() => start(maxLength), {
      message:
        'Sample.value: the pattern /^(?:[A-Z]?){30}$/u can take time that is thousands of times that of one comparison, so one request could block the server: ' +
        'the input can match in many ways. Rewrite it so that an optional or repeated part and what follows it have no character in common, or set maxLength to at most 5.',
    })
})

for (const [pattern, power] of powers) {
  const outcome = power === 1 ? 'is taken for texts of any length' : 'is refused at start where a text has no bound'
  test(`the pattern ${pattern} ${outcome}`, () => {
    assert.equal(patternCost(pattern).degree, power)
    const start = () => echo(sample(Field({ type: 'string', pattern: pattern.source })))
    if (power === 1) start()
    else
      assert.throws(start, {
        name: /^(Boot|Injection)Error$/,
        message: /^Sample\.value: the pattern \/.*could block the server.*maxLength/,
      })
  })
}

test('a pattern that takes time with a power of the length is taken with a bound that keeps it cheap', () => {
  const start = (pattern: RegExp, maxLength: number) => echo(sample(Field({ type: 'string', pattern, maxLength })))
  start(/^\S+@\S+$/, 254)
  start(/^a*a*a*$/, 40)
  assert.throws(() => start(/^\S+@\S+$/, 300), {
    message:
      'Sample.value: the pattern /^\\S+@\\S+$/u can take time that grows with the square of the length of its input, so one request could ' +
      'block the server: the input can match in many ways, as \\S is repeated. Rewrite it so that a repeated part and what follows it have no character in common, or ' +
      'set maxLength to at most 256.',
  })
  assert.throws(() => start(/^a*a*a*$/, 41), { message: /with the cube of .* at most 40\.$/ })
  assert.throws(() => start(/^(a+)+$/, 20), { message: /doubles with each character of its input/ })
})

test('a pattern that may begin anywhere is refused with the advice to begin it with ^', () => {
  assert.throws(() => echo(sample(Field({ type: 'string', pattern: '\\s+x' }))), {
    message: /may begin anywhere, as \\s is repeated\. Begin it with \^/,
  })
})

test('a pattern that fits no long text by itself needs no bound beside it', () => {
  echo(sample(Field({ type: 'string', pattern: /^[a-z]{1,80} ?[a-z]{1,80}$/ })))
})

test('the pattern of a parameter is looked at, too', () => {
  @Controller()
  class Heroes {
    @Post('/') list(@Query({ pattern: '^(a+)+$' }) name: string) {
      return name
    }
  }
  assert.match(bootMessage([Heroes]), /Heroes\.list, parameter 1 'name': the pattern .* doubles/)
})

for (const rule of [
  { is: /^(a+)+$/i },
  { is: ['^(a+)+$', 'i'] },
  { not: '(a+)+$' },
  { regex: { args: /^\S+@\S+$/, msg: 'no' } },
]) {
  test(`a model with the rule ${JSON.stringify(rule, (_, part: unknown) => (part instanceof RegExp ? String(part) : part))} stops the start, as input and in the database`, async () => {
    @Table({ tableName: 'note', timestamps: false })
    class Note extends Base<Note> {
      @Column({ type: DataType.STRING(20), validate: rule as never }) declare text: string
    }
    class NewNote extends dto(Note, { pick: ['text'] }) {}
    const message =
      /^Note\.text: the rule (is|not|regex) \/.*could block the server.*or use a rule such as isEmail or isUrl\.$/
    assert.throws(() => echo(NewNote), { name: /^(Boot|Injection)Error$/, message })
    const lifespan = newLifespan('sqlite+sqlite3:///:memory:', { sync: true })
    const app = createApp({ controllers: [], models: [Note], lifespan, logger: false })
    await assert.rejects(app.start(), { name: /^(Boot|Injection)Error$/, message })
  })
}

test('a lookbehind whose rounds have many ways is refused, however short the input', () => {
  for (const pattern of [/^(?<!a(?:(?:a||){30}|)*)$/, /^(?<=a(?:(?:a||){30})*)$/, /(?<=(?:a|b|ab)*)c/])
    assert.equal(patternCost(pattern).longestInput, 0, String(pattern))
})

test('a pattern that is too large to be checked is refused at the start, with what to write instead', () => {
  for (const source of [Array.from({ length: 300 }, () => '\\w{1,64}').join('-'), '[^a]?'.repeat(2000)]) {
    class Large {
      @Field({ pattern: `^${source}$`, maxLength: 20 })
      text!: string
    }
    assert.throws(() => echo(Large), {
      name: /^(Boot|Injection)Error$/,
      message: /Large\.text.*is too large to be checked.* or use enum for a list of values\.$/,
    })
  }
})

test('alternatives of a long list, separated by a character, are linear', () => {
  const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']
  const codes = letters.flatMap((one) => letters.slice(0, 10).map((other) => one + other)).join('|')
  assert.equal(patternCost(new RegExp(`^(?:${codes})(?:,(?:${codes}))*$`)).longestInput, Infinity)
})

test('a lookbehind of many repetitions, one after the other, is refused, however short the input', () => {
  for (const count of [7, 10, 30, 60]) {
    const pattern = new RegExp(`^[ab]*(?<=b${'a*'.repeat(count)})$`)
    assert.equal(patternCost(pattern).longestInput, 0, String(pattern))
  }
})
