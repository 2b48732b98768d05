// The same on both query paths: plans are made from catalogs, and steps are SQL as it is written; migrate.test.ts runs on both.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DataTypes, type ModelAttributes } from 'sequelize'
import { led, type Models } from './leading.js'
import { migratedDatabases } from './migration-folder.js'

/*
 * The values that people write as SQL: `--backfill` and `--cast`.
 */

const heroes =
  (columns: ModelAttributes, name = 'hero'): Models =>
  (define) =>
    void define(name, {
      id: { type: DataTypes.INTEGER, primaryKey: true },
      name: { type: DataTypes.STRING(50), allowNull: true },
      ...columns,
    })

const ROWS = `INSERT INTO hero (id, name) VALUES (1, 'Robin'), (2, 'Hawk'), (3, NULL)`

const STRANGE = 'a`b ${x} $1 ? :name -- ; (z'

const BACKFILLS: readonly (readonly [sql: string, values: readonly string[]])[] = [
  [`'it''s'`, [`it's`, `it's`, `it's`]],
  [`'${STRANGE}'`, [STRANGE, STRANGE, STRANGE]],
  [`coalesce(name, 'none')`, ['Robin', 'Hawk', 'none']],
  [`coalesce(hero.name, 'none')`, ['Robin', 'Hawk', 'none']],
  [`CASE WHEN name = 'Robin' OR name = 'Hawk' THEN 'bird' ELSE 'none' END`, ['bird', 'bird', 'none']],
  [`upper(substr(coalesce(name, 'x'), 1, 2))`, ['RO', 'HA', 'X']],
  [`(SELECT max(title) FROM team)`, ['Hawks', 'Hawks', 'Hawks']],
]

const CASTS = {
  length: [DataTypes.STRING(50), DataTypes.INTEGER, `length(length)`, ['1', '12', '123'], [1, 2, 3]],
  short: [DataTypes.STRING(50), DataTypes.STRING(4), `substr(short, 1, 4)`, ['abcdef', 'ab', ''], ['abcd', 'ab', '']],
  amount: [
    DataTypes.INTEGER,
    DataTypes.STRING(10),
    `CASE WHEN amount > 1 OR amount < 0 THEN 'many' ELSE 'one' END`,
    [1, 2, -3],
    ['one', 'many', 'many'],
  ],
  weight: [DataTypes.DOUBLE, DataTypes.INTEGER, `round(weight)`, [1.25, 2.75, -3.1], [1, 3, -3]],
  day: [
    DataTypes.STRING(20),
    DataTypes.DATEONLY,
    `'2026-01-02'`,
    ['1', '2', '3'],
    ['2026-01-02', '2026-01-02', '2026-01-02'],
  ],
  note: [DataTypes.TEXT, DataTypes.STRING(60), `'${STRANGE}'`, ['1', '2', '3'], [STRANGE, STRANGE, STRANGE]],
  start: [
    DataTypes.INTEGER,
    DataTypes.DATEONLY,
    `CASE WHEN start > 1 THEN DATE '2026-01-02' ELSE DATE '2026-01-01' END`,
    [1, 2, 3],
    ['2026-01-01', '2026-01-02', '2026-01-02'],
  ],
  price: [DataTypes.INTEGER, DataTypes.DECIMAL(5, 2), `price / 100.0`, [125, 250, 99], [1.25, 2.5, 0.99]],
  code: [
    DataTypes.STRING(2),
    DataTypes.STRING(20),
    `'code of ' || code`,
    ['a', 'b', ''],
    ['code of a', 'code of b', 'code of '],
  ],
  many: [DataTypes.INTEGER, DataTypes.BIGINT, `many * 10000000000`, [1, 2, 3], [10000000000, 20000000000, 30000000000]],
} as const

/** SQLite has no DATE, and || is another operator on MySQL and MariaDB. */
function inDialect(kind: string, sql: string): string {
  if (kind === 'sqlite') return sql.replaceAll("DATE '", "'")
  return kind === 'mariadb' ? sql.replace(/(.*) \|\| (.*)/, 'concat($1, $2)') : sql
}

for (const kind of migratedDatabases) {
  test(`${kind.name}: --backfill takes any expression, for new columns and for those that have NULL`, async (t) => {
    const database = await led(t, kind)
    const text = (allowNull: boolean) => ({ type: DataTypes.STRING(50), allowNull })
    const columns = (allowNull: boolean, prefix: string) =>
      Object.fromEntries(BACKFILLS.map((_, index) => [`${prefix}${index}`, text(allowNull)]))
    const options = (prefix: string) => BACKFILLS.map(([sql], index) => `hero.${prefix}${index}=${sql}`)
    await database.run('CREATE TABLE team (title VARCHAR(50))', `INSERT INTO team VALUES ('Bats'), ('Hawks')`)
    await database.sync(heroes(columns(true, 'old')))
    await database.run(ROWS)
    await database.lead(heroes({ ...columns(false, 'old'), ...columns(false, 'new') }), {
      backfill: [...options('old'), ...options('new')],
    })
    for (const [index, [sql, values]] of BACKFILLS.entries())
      for (const name of [`old${index}`, `new${index}`])
        assert.deepEqual(
          (await database.rows(`SELECT ${name} AS value FROM hero ORDER BY id`)).map((row) =>
            Reflect.get(row, 'value'),
          ),
          values,
          sql,
        )
  })

  for (const [name, [from, to, text, given, values]] of Object.entries(CASTS)) {
    const sql = inDialect(kind.kind, text)
    test(`${kind.name}: --cast hero.${name}="${sql}"`, async (t) => {
      const database = await led(t, kind)
      await database.sync(heroes({ [name]: { type: from, allowNull: true } }))
      for (const [index, value] of given.entries())
        await database.run(
          `INSERT INTO hero (id, ${name}) VALUES (${index + 1}, ${typeof value === 'string' ? `'${value}'` : value})`,
        )
      const models = heroes({ [name]: { type: to, allowNull: true } })
      await database.lead(models, { cast: [`hero.${name}=${sql}`] })
      const rows = await database.rows(`SELECT ${name} AS value FROM hero ORDER BY id`)
      const found = rows.map((row): unknown => Reflect.get(row, 'value'))
      // Drivers return decimals and BIGINT as texts.
      assert.deepEqual(typeof values[0] === 'number' ? found.map(Number) : found, values)
    })
  }

  test(`${kind.name}: a value that is more than one expression is refused`, async (t) => {
    const database = await led(t, kind)
    await database.sync(heroes({}))
    for (const value of [`'x' -- y`, `'x'; DROP TABLE hero`, `'x' /* y`, `('x'`, `'x')`, `'x`])
      assert.equal(
        await database.refusal(heroes({ power: { type: DataTypes.TEXT, allowNull: false } }), {
          backfill: [`hero.power=${value}`],
        }),
        '--backfill hero.power is no expression of SQL: its quotes or parentheses do not match, or it has a comment or a semicolon.',
      )
  })

  test(`${kind.name}: rows of a table whose name has a dot are filled in batches`, async (t) => {
    const database = await led(t, kind)
    await database.sync(heroes({}, 'hero.old'))
    await database.run(ROWS.replace('hero', database.quoted('hero.old')))
    const models = heroes({ power: { type: DataTypes.STRING(9), allowNull: false } }, 'hero.old')
    await database.lead(models, { backfill: [`hero.old.power='x'`] })
    assert.deepEqual(
      await database.rows(`SELECT power FROM ${database.quoted('hero.old')}`),
      [1, 2, 3].map(() => ({ power: 'x' })),
    )
  })
}
