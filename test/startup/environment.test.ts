import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Sequelize } from 'sequelize'
import { newLifespan } from 'sequitur'

/*
 * Environment variables are refused by name, as options in code and in URLs are.
 */

const flags = ['toolkit_sync', 'toolkit_echo', 'toolkit_fast_path']
const times = ['toolkit_statement_timeout', 'toolkit_lock_timeout', 'toolkit_idle_in_transaction_timeout']
const others = ['toolkit_pool_size', 'toolkit_pool_timeout', 'toolkit_start_timeout', 'toolkit_file_mode']
const texts = ['toolkit_url', 'toolkit_replicas', 'toolkit_cursor_secret']
const names = [...flags, ...times, ...others, ...texts]

/** What start() throws with these variables: its message, or undefined when the database starts. */
async function refusal(
  variables: Readonly<Record<string, string>>,
  database = newLifespan('sqlite://', { startTimeout: 0 }),
): Promise<string | undefined> {
  const before = { ...process.env }
  Object.assign(process.env, variables)
  try {
    await database.start()
    await database.stop()
    return undefined
  } catch (error) {
    assert.ok(error instanceof Error)
    return error.message
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name]
    Object.assign(process.env, before)
  }
}

for (const name of names) {
  test(`each misspelling of ${name} by one letter is refused, with the right name`, async () => {
    for (let at = 'toolkit_'.length; at < name.length; at++) {
      const misspelt = [
        name.slice(0, at) + name.slice(at + 1),
        `${name.slice(0, at)}x${name.slice(at)}`,
        `${name.slice(0, at)}x${name.slice(at + 1)}`.toUpperCase(),
      ]
      for (const wrong of misspelt)
        assert.equal(
          await refusal({ [wrong]: '1' }),
          `There is no environment variable ${wrong}. Did you mean '${name}'?`,
        )
    }
  })
}

test('a name that resembles none is refused with all names', async () => {
  const message = await refusal({ toolkit_maximum_number_of_connections: '1' })
  assert.match(
    message ?? '',
    /^There is no environment variable toolkit_maximum_number_of_connections\. Use one of toolkit_url, /,
  )
  for (const name of names) assert.ok(message?.includes(name), name)
})

const values: readonly (readonly [variables: readonly string[], right: readonly string[], wrong: readonly string[]])[] =
  [
    [flags, ['true', 'FALSE', '1', '0', 'yes', 'no', 'on', 'Off', ''], ['maybe', 'ja', '2', 'tru', ' true', 'null']],
    [times, ['0', '2.5', '30', ''], ['-1', '30s', '1e3', 'none', '1_000', 'NaN', '9999999']],
    [['toolkit_pool_timeout'], ['0.5', '30', ''], ['0', '-1', '30s', 'Infinity']],
    [['toolkit_start_timeout'], ['0', '0.5', '30', ''], ['-1', 'for ever']],
    [['toolkit_pool_size'], ['1', '20', ''], ['0', '2.5', '-3', 'ten', '1e3', '0x10']],
    [['toolkit_file_mode'], ['600', '0640', ''], ['rw', '400', '0o640', '999']],
  ]

for (const [variables, right, wrong] of values) {
  for (const name of variables) {
    test(`${name} takes ${right[0]}, and refuses ${wrong[0]}`, async () => {
      for (const value of right) assert.equal(await refusal({ [name]: value, toolkit_url: 'sqlite://' }), undefined)
      for (const value of wrong)
        assert.match(
          (await refusal({ [name]: value })) ?? 'it started',
          new RegExp(`^The environment variable ${name} is '${value}'\\. Write (?:true or false|an? .+)\\.$`),
        )
    })
  }
}

test('all mistakes are reported at once, also to an app with a Sequelize instance of its own', async () => {
  const own = newLifespan(new Sequelize({ dialect: 'sqlite', logging: false }))
  assert.equal(
    await refusal({ toolkit_pol_size: '5', TOOLKIT_ECHO: 'maybe' }, own),
    "There is no environment variable toolkit_pol_size. Did you mean 'toolkit_pool_size'?\n" +
      "The environment variable TOOLKIT_ECHO is 'maybe'. Write true or false.",
  )
})

test('a wrong replica in the environment is refused by the name of its variable', async () => {
  assert.match((await refusal({ toolkit_replicas: 'postgres:/x' })) ?? 'it started', /^toolkit_replicas: /)
})

test('a comma separates replicas, and the hosts of one replica', async () => {
  for (const separator of [',', ', ', '\n', ' ,\n'])
    assert.match(
      (await refusal({ toolkit_replicas: `postgres://u@a,b:1/d${separator}postgres+pg://c,d,c/d,` })) ?? 'it started',
      /^toolkit_replicas: the host c:5432 appears twice/,
    )
})
