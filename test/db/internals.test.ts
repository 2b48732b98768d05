// The same on both query paths: it executes no statement.
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { DataTypes, fn, json, Model, Sequelize } from 'sequelize'
import { checkInternals, usedMembers } from '../../src/db/sequelize/check-internals.js'
import { sequelizeInternals, validator } from '../../src/db/sequelize/internals.js'
import { SequelizeCopy } from '../support/sequelize-copy.js'
import { withoutMember } from '../support/without-member.js'

/** Names that Sequelize also uses for other things: a copy in which they are renamed cannot be loaded. */
const COMMON = new Set(
  'options dialect log lib pool config connect validate Query supports run quote escape format key values type returnType fn args conditions'.split(
    ' ',
  ),
)
/** Members of other packages, or also used by sequelize-typescript. */
const PUBLIC = new Set(
  (
    'bulkBuild isEmail cloneDeep queryGenerator queryInterface ' +
    'acquire release destroy destroyAllNow drain size maxSize using available waiting'
  ).split(' '),
)

const copy = new SequelizeCopy()

test('a copy in which nothing is renamed starts', async () => {
  assert.equal(await copy.start('sqlite:///:memory:'), 'started\n')
})

/** The members that a start with this dialect checks, by owner; without those of SQLite, if it is another dialect. */
function membersByOwner(dialect: string): ReadonlyMap<string, readonly string[]> {
  const known = dialect === 'sqlite' ? [] : usedMembers('sqlite').map(({ member }) => member)
  const members = usedMembers(dialect).filter(({ member }) => ![...known, ...COMMON, ...PUBLIC].includes(member))
  const owners = new Set(members.map(({ owner }) => owner))
  return new Map(
    [...owners].map((owner) => [owner, members.filter((one) => one.owner === owner).map(({ member }) => member)]),
  )
}

for (const [dialect, url] of [
  ['sqlite', 'sqlite:///:memory:'],
  ['postgres', 'postgres://nowhere.invalid/none'],
] as const) {
  for (const [owner, members] of membersByOwner(dialect)) {
    test(`a start on ${dialect} needs the members of ${owner}: ${members.join(', ')}`, async () => {
      const output = await copy.start(url, members)
      assert.match(output, /^BootError: This version of Sequitur works with sequelize 6\.37: /)
      for (const member of members) assert.ok(output.includes(`${owner}.${member}`), output)
    })
  }
}

/** The objects with these names, whose members are hidden one by one. */
function ownersOf(sequelize: Sequelize): Readonly<Record<string, object>> {
  const internals = sequelizeInternals(sequelize)
  const { dialect, connectionManager } = internals
  const prototypeOf = (value: object): object => Object.getPrototypeOf(value)
  return {
    Sequelize: sequelize,
    ConnectionManager: connectionManager,
    'ConnectionManager.pool': connectionManager.pool,
    Dialect: dialect,
    'Query.prototype': dialect.Query.prototype,
    QueryGenerator: dialect.queryGenerator,
    Model,
    "ENUM('a')": DataTypes.ENUM.prototype,
    'ARRAY(STRING)': DataTypes.ARRAY.prototype,
    "GEOMETRY('POINT')": DataTypes.GEOMETRY.prototype,
    'VIRTUAL(STRING)': DataTypes.VIRTUAL.prototype,
    'RANGE(INTEGER)': DataTypes.RANGE.prototype,
    'Sequelize.Validator': validator,
    'fn()': prototypeOf(fn('now')),
    'json()': prototypeOf(json({})),
  }
}

/** Checked by reading a copy of the member (cloneDeep), or needed by every start before the check (options). */
const NOT_HIDDEN = new Set(['Utils.cloneDeep', 'Sequelize.options'])

for (const { owner, member } of usedMembers('sqlite')) {
  if (!(COMMON.has(member) || PUBLIC.has(member)) || NOT_HIDDEN.has(`${owner}.${member}`)) continue
  test(`a start on sqlite needs ${owner}.${member}`, async () => {
    const sequelize = new Sequelize({ dialect: 'sqlite', logging: false })
    const hidden = ownersOf(sequelize)[owner]
    assert.ok(hidden, `${owner} is not in the list above`)
    await withoutMember(hidden, member, () =>
      assert.rejects(checkInternals(sequelize), (error: Error) => {
        assert.equal(error.name, 'BootError')
        assert.ok(error.message.includes(`${owner}.${member}`), error.message)
        return true
      }),
    )
  })
}

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

test("only a dialect's driver.ts casts the objects of a driver", () => {
  const casts = /\b(?:connection|client|library|lib) as (?!T\b)(?:[A-Z{]|typeof|unknown)/
  assert.deepEqual(filesThatCast(casts, /dialects\/\w+\/driver\.ts$/), [])
  assert.deepEqual(filesThatCast(casts, /^$/).length, 3)
})
