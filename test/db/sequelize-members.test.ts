import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Model, Sequelize } from 'sequelize'
import { sequelizeInternals } from '../../src/db/sequelize/internals.js'
import { missingInternals } from '../support/sequelize-members.js'
import { withoutMember } from '../support/without-member.js'

for (const dialect of ['sqlite', 'postgres', 'mysql', 'mariadb'] as const)
  test(`the installed Sequelize has all members that are used on ${dialect}`, async () => {
    assert.deepEqual(await missingInternals(new Sequelize({ dialect, logging: false })), [])
  })

test('a member that is missing, or that Sequelize does not read, is found', async () => {
  const sequelize = new Sequelize({ dialect: 'sqlite', logging: false })
  const { queryGenerator } = sequelizeInternals(sequelize).dialect
  await withoutMember(Model, '_injectScope', () =>
    withoutMember(queryGenerator, 'generateInclude', async () =>
      assert.deepEqual(await missingInternals(sequelize), [
        'Model._injectScope',
        'the names of an included model.internalAs',
      ]),
    ),
  )
})

/** The files of db and paging that cast a variable with one of these names; those that describe the members may do so. */
function filesThatCast(names: RegExp, described: RegExp): string[] {
  const src = fileURLToPath(new URL('../../src', import.meta.url))
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(?:db|paging)\b.*\.ts$/.test(name) && !described.test(name))
    .filter((name) => names.test(readFileSync(join(src, name), 'utf8')))
}

test('only internals.ts casts the objects of Sequelize', () => {
  const casts = /\b(?:sequelize|model|instance|transaction) as unknown as\b/
  assert.deepEqual(filesThatCast(casts, /sequelize\/internals\.ts$/), [])
  assert.deepEqual(filesThatCast(casts, /^$/), ['db/sequelize/internals.ts'])
})

test('only the files of drivers/ cast the objects of a driver', () => {
  const casts = /\b(?:connection|client|library|lib) as (?!T\b)(?:[A-Z{]|typeof|unknown)/
  assert.deepEqual(filesThatCast(casts, /db\/drivers\/\w+\.ts$/), [])
  assert.deepEqual(filesThatCast(casts, /^$/).length, 3)
})
