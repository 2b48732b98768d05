import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type Session, withSession } from 'sequitur'
import { databaseApp, databases } from '../support/databases.js'
import { assertFound, hostile, Note } from '../support/hostile-texts.js'
import { runs } from '../support/fuzz.js'

const saves: Readonly<Record<string, (texts: readonly string[], session: Session) => Promise<unknown>>> = {
  create: (texts) => Promise.all(texts.map((text) => Note.create({ text }))),
  bulkCreate: (texts) => Note.bulkCreate(texts.map((text) => ({ text }))),
  add: async (texts, session) => {
    session.addAll(texts.map((text) => Note.build({ text })))
    await session.flush()
  },
}

/** Random texts of the same pieces. */
const mixed = fc.array(
  fc.constantFrom("'", '"', '`', '\\', '$1', '$$', '$a', ':text', '?', '--', '/*', '%', '\n', 'x', ' ', '縗'),
  {
    minLength: 1,
    maxLength: 6,
  },
)

for (const kind of databases) {
  test(`${kind.name}: a hostile text is kept as it is, in whatever way it is saved`, async (t) => {
    const { database } = await databaseApp(t, kind, [Note], [], { lifespan: { echo: false } })
    for (const save of Object.values(saves)) {
      const kept = await withSession(database, async (session) => {
        await Note.destroy({ where: {} })
        await save(hostile, session)
        return Note.findAll()
      })
      assert.deepEqual(kept.map(({ text }) => text).sort(), [...hostile].sort())
    }
  })

  test(`${kind.name}: a hostile text finds the row that holds it, and no other, in every kind of statement`, async (t) => {
    const { database } = await databaseApp(t, kind, [Note], [], { lifespan: { echo: false } })
    await withSession(database, () => Note.bulkCreate(hostile.map((text) => ({ text }))))
    await withSession(database, (session) => assertFound(hostile, session))
  })

  test(`${kind.name}: so do texts of any such pieces`, async (t) => {
    const { database } = await databaseApp(t, kind, [Note], [], { lifespan: { echo: false } })
    const texts = fc.uniqueArray(
      mixed.map((pieces) => `${pieces.join('')}.`),
      { minLength: 20, maxLength: 20 },
    )
    const found = fc.asyncProperty(texts, (given) =>
      withSession(database, async (session) => {
        await Note.destroy({ where: {} })
        await Note.bulkCreate(given.map((text) => ({ text })))
        await assertFound(given, session)
      }),
    )
    await fc.assert(found, { numRuns: runs(4) })
  })
}
