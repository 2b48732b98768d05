import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newLifespan, withSession } from 'sequitur'
import { readCatalog } from '../../src/db/catalog/read-catalog.js'
import { writeModels, type WrittenModels } from '../../src/migrations/models/write-models.js'
import { sqliteFile } from '../support/databases.js'
import { temporaryFolder } from '../support/processes.js'

/** A database whose tables change, and the folder of its models. */
class Changing {
  readonly #url = sqliteFile.url()
  readonly folder = join(temporaryFolder(), 'models')

  async execute(...statements: readonly string[]): Promise<void> {
    await withSession(newLifespan(await this.#url), async ({ sequelize }) => {
      for (const statement of statements) await sequelize.query(statement)
    })
  }

  async write(tables?: readonly string[]): Promise<WrittenModels> {
    const database = newLifespan(await this.#url)
    await database.start()
    try {
      return writeModels(await readCatalog(database.sequelize), this.folder, tables ? { tables } : {})
    } finally {
      await database.stop()
    }
  }

  text(name: string): string {
    return readFileSync(join(this.folder, name), 'utf8')
  }

  change(name: string, from: string, to: string): void {
    const text = this.text(name)
    assert.ok(text.includes(from), `${from} is not in ${text}`)
    writeFileSync(join(this.folder, name), text.replace(from, to))
  }
}

const TEAM = 'CREATE TABLE team (id INTEGER PRIMARY KEY, team_name TEXT NOT NULL)'
const HERO = 'CREATE TABLE hero (id INTEGER PRIMARY KEY, first_name TEXT NOT NULL)'

test('a new column is added to a class, and all that people wrote stays', async () => {
  const database = new Changing()
  await database.execute(TEAM, HERO)
  await database.write()
  database.change('hero.ts', 'declare firstName: string', 'declare name: string // as people say')
  database.change('hero.ts', 'allowNull: false', "allowNull: false, field: 'first_name', validate: { notEmpty: true }")
  database.change(
    'hero.ts',
    '\n}\n',
    "\n\n  /** {@link Team} */\n  shout(): string {\n    return `${this.name}}!`.replace(/[}/]/g, '')\n  }\n}\n",
  )
  const changed = database.text('hero.ts')
  await database.execute(
    'ALTER TABLE hero ADD COLUMN team_id INTEGER REFERENCES team (id)',
    'ALTER TABLE hero ADD COLUMN power TEXT',
  )
  const { files } = await database.write()
  assert.deepEqual(
    files.map(({ path, state, added }) => [path.slice(database.folder.length + 1), state, added]),
    [
      ['hero.ts', 'extended', ['Hero.teamId', 'Hero.power', 'Hero.team']],
      ['team.ts', 'extended', ['Team.heroes']],
      ['index.ts', 'unchanged', []],
    ],
  )
  assert.equal(
    database.text('hero.ts'),
    changed
      .replace('import { Column, DataType, Table }', 'import { Column, DataType, Table, ForeignKey, BelongsTo }')
      .replace('import type { CreationOptional }', 'import type { CreationOptional, NonAttribute }')
      .replace("from 'sequelize-typescript'\n", "from 'sequelize-typescript'\nimport { Team } from './team.js'\n")
      .replace(
        '// as people say\n',
        `// as people say
  @ForeignKey(() => Team)
  @Column({ type: DataType.INTEGER, onDelete: 'NO ACTION' })
  declare teamId: CreationOptional<number | null>
  @Column(DataType.TEXT) declare power: CreationOptional<string | null>

  @BelongsTo(() => Team) declare team?: NonAttribute<Team | null>
`,
      ),
  )
  assert.match(database.text('team.ts'), /@HasMany\(\(\) => Hero\) declare heroes\?: NonAttribute<Hero\[\]>/)
  const texts = readdirSync(database.folder).map((name) => database.text(name))
  await database.write()
  assert.deepEqual(
    readdirSync(database.folder).map((name) => database.text(name)),
    texts,
  )
})

test('what people removed stays removed: an association, and a column that a comment names', async () => {
  const database = new Changing()
  await database.execute(TEAM, `${HERO.slice(0, -1)}, secret TEXT, team_id INTEGER REFERENCES team (id))`)
  await database.write()
  database.change('team.ts', '  @HasMany(() => Hero) declare heroes?: NonAttribute<Hero[]>\n', '')
  database.change(
    'hero.ts',
    '  @Column(DataType.TEXT) declare secret: CreationOptional<string | null>\n',
    '  // without secret, notes\n',
  )
  const texts = [database.text('team.ts'), database.text('hero.ts')]
  await database.write()
  assert.deepEqual([database.text('team.ts'), database.text('hero.ts')], texts)
})

test('a column that people removed is written again', async () => {
  const database = new Changing()
  await database.execute(HERO)
  await database.write()
  const text = database.text('hero.ts')
  database.change('hero.ts', '  @Column({ type: DataType.TEXT, allowNull: false }) declare firstName: string\n', '')
  await database.write()
  assert.equal(database.text('hero.ts'), text)
})

test('a new table has a class, and is in the list of models; a file of another purpose is left alone', async () => {
  const database = new Changing()
  await database.execute(HERO)
  await database.write()
  writeFileSync(join(database.folder, 'team.ts'), 'export const size = 5\n')
  database.change('index.ts', 'export const models = [Hero]', 'export const models = [Hero, Extra]\nconst Extra = 1')
  await database.execute(
    TEAM,
    'CREATE TABLE team_hero (team_id INTEGER NOT NULL REFERENCES team, hero_id INTEGER NOT NULL REFERENCES hero, PRIMARY KEY (team_id, hero_id))',
  )
  await database.write()
  assert.equal(database.text('team.ts'), 'export const size = 5\n')
  assert.match(database.text('team-table.ts'), /export class Team extends Base<Team>/)
  assert.match(database.text('hero.ts'), /@BelongsToMany\(\(\) => Team, \(\) => TeamHero\) declare teams\?: /)
  assert.equal(
    database.text('index.ts'),
    `import { Hero } from './hero.js'
import { Team } from './team-table.js'
import { TeamHero } from './team-hero.js'

/** All models, in the order of their names. */
export const models = [Hero, Extra, Team, TeamHero]
const Extra = 1

export { Hero, Team, TeamHero }
`,
  )
})

test('only the named tables have classes; later ones are associated with the class that people have', async () => {
  const database = new Changing()
  await database.execute(TEAM, `${HERO.slice(0, -1)}, team_id INTEGER REFERENCES team (id))`)
  await database.write(['hero'])
  assert.deepEqual(readdirSync(database.folder), ['hero.ts', 'index.ts'])
  assert.doesNotMatch(database.text('hero.ts'), /Team/)
  database.change('hero.ts', 'declare teamId', 'declare squad')
  database.change('hero.ts', '@Column(DataType.INTEGER)', "@Column({ type: DataType.INTEGER, field: 'team_id' })")
  await database.write()
  assert.match(
    database.text('hero.ts'),
    /@BelongsTo\(\(\) => Team, \{ foreignKey: 'squad', onDelete: 'NO ACTION' \}\) declare team\?: NonAttribute<Team \| null>/,
  )
  assert.match(
    database.text('team.ts'),
    /@HasMany\(\(\) => Hero, \{ foreignKey: 'squad', onDelete: 'NO ACTION' \}\) declare heroes\?/,
  )
})

for (const [name, table, changed] of [
  [
    'in one line',
    "@Table({ tableName: 'hero', timestamps: false, underscored: true })",
    "underscored: true, indexes: [{ name: 'hero_team', fields: ['teamId'] }] })",
  ],
  [
    'in several lines',
    "@Table({\n  tableName: 'hero',\n  timestamps: false,\n  underscored: true,\n})",
    "underscored: true,\n  indexes: [{ name: 'hero_team', fields: ['teamId'] }],\n})",
  ],
  [
    'with an index',
    "@Table({ tableName: 'hero', timestamps: false, underscored: true, indexes: [{ fields: ['firstName'] }] })",
    "indexes: [{ fields: ['firstName'] }, { name: 'hero_team', fields: ['teamId'] }] })",
  ],
] as const)
  test(`a foreign key that a column has got since has its associations and its index in classes that are there: @Table ${name}`, async () => {
    const database = new Changing()
    await database.execute(TEAM, `${HERO.slice(0, -1)}, team_id INTEGER)`)
    await database.write()
    database.change('hero.ts', "@Table({ tableName: 'hero', timestamps: false, underscored: true })", table)
    database.change('hero.ts', 'declare firstName: string', 'declare firstName: string // as people say')
    await database.execute(
      'DROP TABLE hero',
      `${HERO.slice(0, -1)}, team_id INTEGER REFERENCES team (id) ON DELETE CASCADE)`,
      'CREATE INDEX hero_team ON hero (team_id)',
    )
    const { files } = await database.write()
    assert.deepEqual(
      files.flatMap(({ added }) => added),
      ['Hero.team', "an index of Hero with fields: ['teamId']", 'Team.heroes'],
    )
    const hero = database.text('hero.ts')
    assert.ok(hero.includes(changed), hero)
    assert.match(hero, /declare firstName: string \/\/ as people say\n/)
    assert.match(hero, /@BelongsTo\(\(\) => Team, \{ foreignKey: 'teamId', onDelete: 'CASCADE' \}\)\s+declare team\?:/)
    assert.match(
      database.text('team.ts'),
      /@HasMany\(\(\) => Hero, \{ foreignKey: 'teamId', onDelete: 'CASCADE' \}\)\s+declare heroes\?:/,
    )
    await database.write()
    assert.equal(database.text('hero.ts'), hero)
    // One side says that the key is known: what was removed of the other one stays removed.
    database.change('team.ts', '  @HasMany', '  // @HasMany')
    const team = database.text('team.ts')
    await database.write()
    assert.equal(database.text('team.ts'), team)
  })

test('an association that a comment names is not added for a foreign key without @ForeignKey', async () => {
  const database = new Changing()
  await database.execute(TEAM, `${HERO.slice(0, -1)}, team_id INTEGER REFERENCES team (id))`)
  await database.write()
  database.change(
    'hero.ts',
    '  @BelongsTo(() => Team) declare team?: NonAttribute<Team | null>\n',
    '  // without team\n',
  )
  database.change('hero.ts', '  @ForeignKey(() => Team)\n', '')
  database.change('team.ts', '  @HasMany(() => Hero) declare heroes?: NonAttribute<Hero[]>\n', '  // without heroes\n')
  const texts = [database.text('team.ts'), database.text('hero.ts')]
  await database.write()
  assert.deepEqual([database.text('team.ts'), database.text('hero.ts')], texts)
})

test('an index file without a list of models is left alone, and people are told', async () => {
  const database = new Changing()
  await database.execute(HERO)
  await database.write()
  writeFileSync(join(database.folder, 'index.ts'), "export * from './hero.js'\n")
  await database.execute(TEAM)
  const { notes } = await database.write()
  assert.deepEqual(
    notes.map((note) => note.replace(database.folder, 'models')),
    ["models/index.ts has no list 'models = [...]'. Add to your models: Hero, Team"],
  )
  assert.equal(database.text('index.ts'), "export * from './hero.js'\n")
})
