import { setTimeout } from 'node:timers/promises'
import { type ModelAttributes, DataTypes, literal } from 'sequelize'
import { newLifespan, type Session, sql, withSession } from 'sequitur'
import type { Choices } from '../../src/migrations/difference/choices.js'
import { rawSql } from '../../src/db/statements/statement.js'
import { Led, type Models } from '../../test/migrations/leading.js'
import { migrationFolder } from '../../test/migrations/migration-folder.js'

/*
 * The longest wait of one who reads and of one who writes, while each rule of `sequitur migrate diff` runs on a table with many rows. They use one row each, by its
 * key, one statement after the other. The first line has no migration: what the machine itself takes. PostgreSQL and MariaDB; the database must be empty.
 *
 * node --conditions=sequitur-source --import tsx --import sequitur/register bench/migrations/waits.ts <url> [rows]
 */

const [url = '', count = '1000000'] = process.argv.slice(2)
const kind = url.startsWith('postgres') ? 'postgres' : 'mariadb'

const base = (): ModelAttributes => ({
  id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
  name: { type: DataTypes.STRING(50), allowNull: true },
  code: { type: DataTypes.STRING(20), allowNull: true },
  age: { type: DataTypes.INTEGER, allowNull: true },
  team_id: { type: DataTypes.INTEGER, allowNull: true },
})

/** A table with rows, and one that it may refer to. */
const models =
  (more: () => ModelAttributes, indexes: readonly string[] = []): Models =>
  (define) => {
    define('team', { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true } })
    define(
      'hero',
      { ...base(), ...more() },
      { indexes: indexes.map((name) => ({ fields: [name], name: `hero_${name}` })) },
    )
  }

interface Rule {
  readonly name: string
  readonly models: Models
  readonly choices?: Choices
}

const RULES: readonly Rule[] = [
  { name: 'new nullable column', models: models(() => ({ power: DataTypes.STRING(50) })) },
  {
    name: 'new column with a constant default',
    models: models(() => ({ power: { type: DataTypes.STRING(50), allowNull: false, defaultValue: 'none' } })),
  },
  {
    name: 'new NOT NULL column with --backfill',
    models: models(() => ({ power: { type: DataTypes.STRING(50), allowNull: false } })),
    choices: { backfill: [`hero.power='none'`] },
  },
  { name: 'NOT NULL on a column', models: models(() => ({ name: { type: DataTypes.STRING(50), allowNull: false } })) },
  { name: 'longer text', models: models(() => ({ name: { type: DataTypes.STRING(60), allowNull: true } })) },
  { name: 'larger number (rewrites)', models: models(() => ({ age: { type: DataTypes.BIGINT, allowNull: true } })) },
  { name: 'index', models: models(() => ({}), ['age']) },
  { name: 'unique', models: models(() => ({ code: { type: DataTypes.STRING(20), allowNull: true, unique: true } })) },
  {
    name: 'foreign key',
    models: models(() => ({
      team_id: { type: DataTypes.INTEGER, references: { model: 'team', key: 'id' }, onDelete: 'SET NULL' },
    })),
  },
  {
    name: 'rename of a column',
    models: (define) => {
      const { age, ...others } = base()
      define('team', { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true } })
      define('hero', { ...others, years: age ?? DataTypes.INTEGER })
    },
    choices: { rename: ['hero.age:years'] },
  },
  {
    name: 'default of the time',
    models: models(() => ({
      made: { type: DataTypes.DATE, allowNull: false, defaultValue: literal('CURRENT_TIMESTAMP') },
    })),
  },
  {
    name: 'drop of a column',
    models: (define) => {
      const { age: _, ...others } = base()
      define('team', { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true } })
      define('hero', others)
    },
    choices: { drop: ['hero.age'] },
  },
]

const ends: (() => unknown)[] = []
const folders = { after: (end: unknown) => void ends.push(end as () => unknown) }

const numbers =
  kind === 'postgres'
    ? `generate_series(1, ${count}) AS numbers (n)`
    : `(SELECT seq AS n FROM seq_1_to_${count}) AS numbers`

/** Makes the tables again. */
async function fill(database: Led): Promise<void> {
  await database.run('DROP TABLE IF EXISTS hero', 'DROP TABLE IF EXISTS team')
  await database.sync(models(() => ({})))
  await database.run(
    kind === 'postgres' ? 'INSERT INTO team DEFAULT VALUES' : 'INSERT INTO team () VALUES ()',
    `INSERT INTO hero (name, code, age, team_id) SELECT 'Robin', CONCAT('c', n), 7, 1 FROM ${numbers}`,
    kind === 'postgres' ? 'VACUUM ANALYZE hero' : 'ANALYZE TABLE hero',
  )
}

/** Repeats a statement until it is stopped. @returns the longest time in milliseconds. */
function measure(work: (session: Session) => Promise<unknown>): () => Promise<number> {
  const database = newLifespan(url, { models: [], lockTimeout: 0 })
  const end = new AbortController()
  let longest = 0
  const running = database.during(async () => {
    while (!end.signal.aborted) {
      const begun = performance.now()
      await withSession(database, work)
      longest = Math.max(longest, performance.now() - begun)
    }
  })
  return async () => {
    end.abort()
    await running
    return longest
  }
}

/** A reader and a writer. @param change what it sets in its row. */
function measureBoth(change: string) {
  const reader = measure((session) => session.execute(sql`SELECT name FROM hero WHERE id = 5`))
  const row = rawSql(change)
  const writer = measure((session) => session.execute(sql`UPDATE hero SET ${row} WHERE id = 7`))
  return async () => [await reader(), await writer()] as const
}

function report(name: string, [read, written]: readonly [number, number], notes: string): void {
  console.log(`${name.padEnd(38)}  ${read.toFixed(0).padStart(7)}  ${written.toFixed(0).padStart(7)}  ${notes}`)
}

console.log(`${'rule'.padEnd(38)}  ${'reader'.padStart(7)}  ${'writer'.padStart(7)}  notes`)
// Statements that make a million rows take long.
process.env['toolkit_statement_timeout'] = '0'
const database = new Led(kind, url, migrationFolder(folders))
await fill(database)
const alone = measureBoth(`name = 'Robin'`)
await setTimeout(5_000)
report('no migration, for 5 s', await alone(), '')
for (const rule of RULES) {
  await fill(database)
  const planned = await database.plan(rule.models, rule.choices)
  const end = measureBoth(rule.name.startsWith('unique') ? `name = 'x'` : `name = 'Robin'`)
  await database.apply(planned)
  const notes = [...new Set(planned.files.flatMap(({ steps }) => steps.map(({ note }) => note)))]
  report(rule.name, await end(), notes.join('; '))
}
await database.run('DROP TABLE hero', 'DROP TABLE team', 'DROP TABLE migration_step')
await database.close()
for (const end of ends) await end()
