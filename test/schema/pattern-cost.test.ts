import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, Controller, createApp, dto, Field, newLifespan, Post, Query } from 'sequitur'
import { patternCost } from '../../src/schema/patterns/pattern-cost.js'
import { bootMessage } from '../support/api.js'
import { attempt } from '../support/backtracking.js'
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

const atom = fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\w', 'ab', '(?=a)', '^', '$')
const { pattern: patterns } = fc.letrec<{ pattern: string; part: string }>((tie) => ({
  pattern: fc.array(tie('part'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
  part: fc.oneof(
    { depthSize: 'small' },
    atom,
    fc
      .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?'))
      .map(([inner, many]) => `(?:${inner})${many}`),
    fc.tuple(tie('pattern'), tie('pattern')).map(([one, other]) => `(?:${one}|${other})`),
    fc.tuple(fc.constantFrom('a', '[ab]', '\\w'), fc.constantFrom('*', '+', '{2,}')).map((both) => both.join('')),
  ),
}))
const anchored = fc.tuple(fc.constantFrom('^', ''), patterns, fc.constantFrom('$', '')).map((parts) => parts.join(''))
const texts = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })

test('a pattern is read as the engine reads it: both find the same', () => {
  fc.assert(
    fc.property(anchored, texts, (source, text) => {
      const expression = new RegExp(source)
      const { matches, steps } = attempt(expression, text)
      if (steps < 200_000) assert.equal(matches, expression.test(text), `${expression} in '${text}'`)
    }),
    { numRuns: 3000 },
  )
})

test('of a pattern that is taken for texts of any length, no text takes more steps than in proportion to it', () => {
  fc.assert(
    fc.property(
      anchored,
      texts,
      fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 1, maxLength: 3 }),
      texts,
      (source, before, unit, after) => {
        const expression = new RegExp(source)
        fc.pre(patternCost(expression).degree === 1)
        const stepsOf = (times: number) => attempt(expression, before + unit.repeat(times) + after).steps
        const [few, many] = [stepsOf(40), stepsOf(160)]
        assert.ok(
          many <= 6 * few + 1000,
          `${expression} takes ${few} steps, then ${many}: '${before}' '${unit}' '${after}'`,
        )
      },
    ),
    { numRuns: 3000 },
  )
})
