// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import * as fc from 'fast-check'
import { dto, Field } from 'sequitur'
import { readSettings, settings } from 'sequitur/settings'
import { z } from 'zod'
import { newApp } from '../example/recipes/settings.js'
import { Hero } from './support/hero.js'

class All {
  @Field({ minLength: 3 }) stripeKey!: string
  @Field({ type: 'integer', minimum: 1, default: 8000 }) PORT!: number
  @Field({ default: false }) is_debug!: boolean
  @Field({ enum: ['info', 'warn'], default: 'info' }) logLevel!: string
  @Field({ type: [String], default: ['a'] }) tags!: string[]
  @Field({ type: ['integer'], optional: true }) sizes?: number[]
  @Field({ optional: true }) since?: Date
}

test('each field is read from the variable of its name, converted to its type', () => {
  const env = {
    STRIPE_KEY: 'sk_1',
    PORT: '3000',
    IS_DEBUG: 'true',
    LOG_LEVEL: 'warn',
    TAGS: 'x, y,',
    SIZES: '1,2',
    SINCE: '2026-01-31T00:00:00Z',
    OTHER: 'ignored',
  }
  const read = readSettings(All, { env })
  assert.ok(read instanceof All)
  assert.deepEqual(
    { ...read },
    {
      stripeKey: 'sk_1',
      PORT: 3000,
      is_debug: true,
      logLevel: 'warn',
      tags: ['x', 'y'],
      sizes: [1, 2],
      since: new Date('2026-01-31'),
    },
  )
  assert.deepEqual(
    { ...readSettings(All, { env: { STRIPE_KEY: 'sk_1', PORT: '' } }) },
    {
      stripeKey: 'sk_1',
      PORT: 8000,
      is_debug: false,
      logLevel: 'info',
      tags: ['a'],
    },
  )
  assert.equal(
    readSettings(All, { env: { APP_STRIPE_KEY: 'sk_1', STRIPE_KEY: 'x' }, prefix: 'APP_' }).stripeKey,
    'sk_1',
  )
})

test('everything that is missing or wrong is named at once, without values', () => {
  const env = { PORT: 'secret1', IS_DEBUG: 'secret2', LOG_LEVEL: 'secret3', SIZES: '1,secret4', SINCE: 'secret5' }
  assert.throws(
    () => readSettings(All, { env }),
    (error: Error) => {
      assert.equal(error.name, 'BootError')
      assert.doesNotMatch(error.message, /secret/)
      const lines = error.message.split('\n')
      assert.equal(lines[0], 'The environment does not fit All:')
      assert.deepEqual(
        lines
          .slice(1)
          .map((line) => line.split(/ +/).slice(1, 4).join(' '))
          .toSorted(),
        [
          'IS_DEBUG must be',
          'LOG_LEVEL must be',
          'PORT must be',
          'SINCE must be',
          'SIZES, value 2',
          'STRIPE_KEY is required',
        ],
      )
      return true
    },
  )
})

test('whatever the variables are, settings are read, or a BootError names variables', () => {
  const texts = fc.record(
    Object.fromEntries(['STRIPE_KEY', 'PORT', 'IS_DEBUG', 'TAGS', 'SIZES', 'SINCE'].map((name) => [name, fc.string()])),
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(texts, (env) => {
      try {
        const { PORT, is_debug: isDebug, tags } = readSettings(All, { env })
        assert.ok(Number.isInteger(PORT) && PORT >= 1 && typeof isDebug === 'boolean' && Array.isArray(tags))
      } catch (error) {
        assert.match(String(error), /^BootError: The environment does not fit All:(?:\n {2}[A-Z_]+[ ,].*)+$/)
      }
    }),
  )
})

test('settings are frozen, and neither inspect() nor JSON has their values', () => {
  const read = readSettings(All, { env: { STRIPE_KEY: 'sk_1' } })
  assert.throws(() => (read.PORT = 1), TypeError)
  assert.equal(inspect({ read }).includes('sk_1'), false)
  assert.match(inspect(read), /^All \{ stripeKey, PORT/)
  assert.equal(JSON.parse(JSON.stringify(read)).stripeKey, '[hidden]')
})

test('classes that variables cannot fill stop the start', () => {
  class Nested {
    @Field() all!: All
  }
  class Twice {
    @Field() stripeKey!: string
    @Field() stripe_key!: string
  }
  class Foreign {
    @Field({ type: z.email() }) mail!: string
  }
  class Patch extends dto(All, { pick: ['PORT'] }) {}
  assert.throws(() => settings(Nested), /settings\(Nested\): all is of a type that a variable cannot have/)
  assert.throws(() => settings(Foreign), /mail is of a type/)
  assert.throws(() => settings(Twice), /stripeKey and stripe_key are both STRIPE_KEY/)
  assert.throws(() => settings(class Empty {}), /settings\(Empty\): Empty has no fields/)
  assert.throws(() => settings(Hero), /settings\(Hero\): it is not a class with @Field/)
  assert.throws(() => settings('All' as never), /'All' is not a class/)
  assert.throws(() => settings(All, { prefx: 'a' } as never), /prefx/)
  assert.equal(readSettings(Patch, { env: { PORT: '7' } }).PORT, 7)
})

test('the recipe: settings are injected', async (t) => {
  const variables = { MAIL_KEY: '0123456789', ADMINS: 'a,b' }
  Object.assign(process.env, variables)
  t.after(() => {
    for (const name of Object.keys(variables)) Reflect.deleteProperty(process.env, name)
  })
  const app = newApp()
  t.after(() => app.close())
  const { url } = await app.listen(0)
  assert.equal(await (await fetch(`${url}/mailer`)).json(), '3 retries, 2 admins')
  process.env['MAIL_KEY'] = 'short'
  assert.throws(
    newApp,
    /BootError: The environment does not fit Settings:\n {2}MAIL_KEY must have at least 10 characters/,
  )
})
