import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { type DataType, DataTypes } from 'sequelize'
import { newLifespan } from 'sequitur'
import { migrate } from 'sequitur/migrations'
import { root } from '../support/processes.js'
import { led, type Models } from './leading.js'
import { migratedDatabases, migrationFolder, stepsFile } from './migration-folder.js'

/*
 * What people write themselves: the statements of "By hand" in docs/migrations.md.
 */

const page = readFileSync(join(root, 'docs/migrations.md'), 'utf8')
const [section = ''] = /^## By hand$.*?^## /ms.exec(page) ?? []
const blocks = [...section.matchAll(/^```sql\n(.*?)^```/gms)].map(([, text = '']) => text.trim())

/** The file with the statements of a block. */
function fileOf(kind: string, beginning: string, isOfSqlite: boolean): string {
  const found = blocks.filter((text) => text.includes(beginning) && text.includes(';') === isOfSqlite)
  assert.equal(found.length, 1)
  const statements = found.flatMap((text) => text.split(/;\n/))
  return stepsFile(kind, statements.map((text) => `sql\`${text}\``).join(', '))
}

const ledger =
  (keys: readonly string[]): Models =>
  (define) => {
    const column = (name: string, type: DataType) => ({ type, allowNull: false, primaryKey: keys.includes(name) })
    define('ledger', {
      year: column('year', DataTypes.INTEGER),
      month: column('month', DataTypes.INTEGER),
      currency: column('currency', DataTypes.STRING(3)),
      amount: DataTypes.INTEGER,
    })
  }

const hero =
  (twice: string): Models =>
  (define) =>
    void define('hero', {
      id: { type: DataTypes.INTEGER, primaryKey: true },
      age: DataTypes.INTEGER,
      twice,
    })

for (const kind of migratedDatabases) {
  const isSqlite = kind.kind === 'sqlite'

  test(`${kind.name}: a primary key is changed by hand as docs/migrations.md says, and the rows remain`, async (t) => {
    const database = await led(t, kind)
    await database.sync(ledger(['year', 'month']))
    await database.run(`INSERT INTO ledger VALUES (2026, 1, 'EUR', 10), (2026, 2, 'EUR', 20)`)
    const wanted = ledger(['year', 'month', 'currency'])
    assert.equal((await database.plan(wanted)).byHand.length, 1)
    const file =
      kind.kind === 'postgres'
        ? `export { default } from '${join(root, 'example/guides/ledger-key.ts')}'\n`
        : fileOf(kind.kind, 'PRIMARY KEY', isSqlite)
    const { path } = migrationFolder(t, { '0001-ledger-key.ts': file })
    await migrate(newLifespan(database.url), { directory: path })
    await database.assertSame(wanted)
    assert.deepEqual((await database.plan(wanted)).byHand, [])
    await database.run(`INSERT INTO ledger VALUES (2026, 1, 'USD', 30)`)
    await assert.rejects(database.run(`INSERT INTO ledger VALUES (2026, 1, 'USD', 40)`))
    assert.deepEqual(
      (await database.rows('SELECT amount FROM ledger ORDER BY amount')).map((row) => Reflect.get(row, 'amount')),
      [10, 20, 30],
    )
  })

  test(`${kind.name}: a column becomes computed by hand as docs/migrations.md says`, async (t) => {
    const database = await led(t, kind)
    await database.sync(hero('INTEGER'))
    await database.run('INSERT INTO hero VALUES (1, 7, 0)')
    const wanted = hero(`INTEGER GENERATED ALWAYS AS (age * 2) ${isSqlite ? 'VIRTUAL' : 'STORED'}`)
    assert.match(await database.refusal(wanted), /^hero\.twice: .* by hand\.$/)
    const { path } = migrationFolder(t, { '0001-twice.ts': fileOf(kind.kind, 'twice', isSqlite) })
    await migrate(newLifespan(database.url), { directory: path })
    await database.assertSame(wanted)
    assert.deepEqual(await database.rows('SELECT id, twice FROM hero'), [{ id: 1, twice: 14 }])
  })
}
