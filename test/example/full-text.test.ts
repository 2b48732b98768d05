import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { INDEX, Story, StoryController } from '../../example/recipes/full-text.js'
import { databaseApp, databases } from '../support/databases.js'
import { runs } from '../support/fuzz.js'

const stories = [
  { title: 'A boat', text: 'The captain sailed the boat to the island.' },
  { title: 'Islands', text: 'An island, and another island; islands everywhere.' },
  { title: 'A desert', text: 'Nothing but sand, and no water for miles.' },
]

for (const kind of databases)
  test(`${kind.name}: full-text.ts finds words in any form, the most relevant first, and takes any text`, async (t) => {
    const { fetch, database } = await databaseApp(t, kind, [Story], [StoryController])
    const { sequelize } = database
    const statements = INDEX[sequelize.getDialect()] ?? INDEX['mariadb'] ?? []
    for (const statement of statements) await sequelize.query(statement)
    await database.session(() => Story.bulkCreate(stories))
    const find = async (q: string, more = '') => {
      const response = await fetch(`/stories?q=${encodeURIComponent(q)}${more}`)
      const { data } = (await response.json()) as { data?: { title: string }[] }
      return { status: response.status, titles: data?.map(({ title }) => title) }
    }
    assert.deepEqual(await find('island'), { status: 200, titles: ['Islands', 'A boat'] })
    assert.deepEqual(await find('island', '&limit=1&offset=1'), { status: 200, titles: ['A boat'] })
    assert.deepEqual(await find('sand water'), { status: 200, titles: ['A desert'] })
    assert.deepEqual(await find('spaceship'), { status: 200, titles: [] })
    await database.session(async () => {
      await Story.update({ text: 'A spaceship.' }, { where: { title: 'A boat' } })
      await Story.destroy({ where: { title: 'Islands' } })
    })
    assert.deepEqual(await find('island'), { status: 200, titles: [] })
    assert.deepEqual(await find('spaceship'), { status: 200, titles: ['A boat'] })

    const hostile = [
      '"',
      "'; DROP TABLE story; --",
      '*',
      'NEAR(',
      'a AND',
      '-',
      '\\',
      '%',
      '@@',
      ':*',
      '$1',
      '?',
      ':q',
      'é🦇',
    ]
    for (const q of hostile) assert.equal((await find(q)).status, 200, q)
    for (const q of ['', '\0', 'x'.repeat(201)]) assert.equal((await find(q)).status, 422, q)
    const texts = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 })
    const isAnswered = fc.asyncProperty(texts, async (q) => assert.ok([200, 422].includes((await find(q)).status), q))
    await fc.assert(isAnswered, { numRuns: runs(200) })
    assert.equal(await Story.count(), 2)
  })
