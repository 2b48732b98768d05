import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { usedMembers } from '../../src/db/sequelize/check-internals.js'
import { SequelizeCopy } from '../support/sequelize-copy.js'

/** Words that Sequelize also uses for other things: a copy without them does not load at all. */
const COMMON = new Set(['options', 'dialect', 'log', 'lib', 'pool', 'Query', 'supports', 'run', 'quote', 'escape'])
/** Public, and used by sequelize-typescript as well. */
const PUBLIC = new Set(['bulkBuild', 'isEmail', 'cloneDeep', 'queryGenerator'])

const copy = new SequelizeCopy()

test('a copy in which nothing is renamed starts', async () => {
  assert.equal(await copy.start('sqlite:///:memory:'), 'started\n')
})

/** The members of each owner that this dialect's start looks for, and SQLite's does not. */
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
    test(`a start on ${dialect} needs of ${owner}: ${members.join(', ')}`, async () => {
      const output = await copy.start(url, members)
      assert.match(output, /^BootError: This version of Sequitur works with sequelize 6\.37\./)
      for (const member of members) assert.ok(output.includes(`${owner}.${member}`), output)
    })
  }
}

test('no other file casts what Sequelize made', () => {
  const src = fileURLToPath(new URL('../../src', import.meta.url))
  const casts = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((name) => /^(?:db|paging)\b.*\.ts$/.test(name) && !name.endsWith('sequelize/internals.ts'))
    .filter((name) =>
      /\b(?:sequelize|model|instance|transaction) as unknown as\b/.test(readFileSync(join(src, name), 'utf8')),
    )
  assert.deepEqual(casts, [])
})
