// The same on both query paths: plans are made from catalogs, and steps are SQL as it is written; migrate.test.ts runs on both.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { col, DataTypes, fn, literal, type ModelAttributes } from 'sequelize'
import { Renamed } from 'sequitur/migrations'
import { Led, led, linesOf, type Models } from './leading.js'
import { migratedDatabases, migrationFolder } from './migration-folder.js'

const id = () => ({ type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true })
const text = (length = 50) => ({ type: DataTypes.STRING(length), allowNull: true })

/** A model with a key and these columns. */
const hero =
  (columns: () => ModelAttributes, options: () => object = () => ({})): Models =>
  (define) =>
    void define('hero', { id: id(), ...columns() }, options())

const plain = hero(() => ({ name: text() }))
const plainKey = hero(() => ({}))
const HEROES = `INSERT INTO hero (name) VALUES ('Robin'), ('Hawk'), (NULL)`

test('PostgreSQL: of many rows without statistics, a note says that there are more than were counted', async (t) => {
  const database = await led(t, migratedDatabases.find(({ kind }) => kind === 'postgres') ?? assert.fail())
  await database.sync(hero(() => ({ age: DataTypes.INTEGER })))
  await database.run(
    'ALTER TABLE hero SET (autovacuum_enabled = false)',
    'INSERT INTO hero (age) VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10)',
    'INSERT INTO hero (age) SELECT a.age FROM hero a, hero b, hero c, hero d, hero e',
  )
  const { files } = await database.plan(hero(() => ({ age: DataTypes.BIGINT })))
  const [step] = files.flatMap(({ steps }) => steps)
  assert.match(step?.note ?? '', /more than 100,000 rows/)
})

for (const kind of migratedDatabases.filter(({ kind }) => kind !== 'sqlite'))
  test(`${kind.name}: columns of a table that get other types write its rows once`, async (t) => {
    const database = await led(t, kind)
    const columns = (type: typeof DataTypes.INTEGER | typeof DataTypes.BIGINT) =>
      hero(() => ({ age: type, height: type, weight: type, name: text() }))
    await database.sync(columns(DataTypes.INTEGER))
    await database.run(`INSERT INTO hero (age, height, weight, name) VALUES (1, 2, 3, 'Robin'), (4, 5, NULL, NULL)`)
    const steps = await database.lead(columns(DataTypes.BIGINT))
    assert.equal(steps.length, 1)
    assert.match(steps[0]?.what ?? '', /age .*; .*height .*; .*weight /)
    assert.match(steps[0]?.note ?? '', /^rewrites 2 rows, /)
    assert.deepEqual(await database.rows('SELECT height, name FROM hero ORDER BY id'), [
      { height: '2', name: 'Robin' },
      { height: '5', name: null },
    ])
  })

for (const kind of migratedDatabases) {
  test(`${kind.name}: the tables of models that are there already have no difference`, async (t) => {
    const database = await led(t, kind)
    await database.sync(plain)
    await database.assertSame(plain)
  })

  test(`${kind.name}: a new table has its keys, its constraints and its indexes`, async (t) => {
    const database = await led(t, kind)
    const models: Models = (define) => {
      define('team', { id: id(), name: { ...text(), unique: true } })
      define(
        'hero',
        {
          id: id(),
          state: { type: DataTypes.ENUM('new', 'old'), allowNull: false, defaultValue: 'new' },
          team_id: { type: DataTypes.INTEGER, references: { model: 'team', key: 'id' }, onDelete: 'CASCADE' },
        },
        { indexes: [{ fields: ['state', { name: 'team_id', order: 'DESC' }] }] },
      )
    }
    await database.lead(models)
    await database.run(`INSERT INTO team (name) VALUES ('Hawks')`, `INSERT INTO hero (team_id) VALUES (1)`)
    assert.deepEqual(await database.rows('SELECT * FROM hero'), [{ id: 1, state: 'new', team_id: 1 }])
  })

  test(`${kind.name}: tables that refer to each other are created`, async (t) => {
    const database = await led(t, kind)
    await database.lead((define) => {
      define('hero', { id: id(), team_id: { type: DataTypes.INTEGER, references: { model: 'team', key: 'id' } } })
      define('team', { id: id(), hero_id: { type: DataTypes.INTEGER, references: { model: 'hero', key: 'id' } } })
    })
  })

  test(`${kind.name}: a nullable column, and one with a constant default, are added at once`, async (t) => {
    const database = await led(t, kind)
    await database.sync(plain)
    await database.run(HEROES)
    const steps = await database.lead(
      hero(() => ({
        name: text(),
        power: text(),
        age: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 7 },
      })),
    )
    assert.deepEqual(
      steps.map(({ note }) => note),
      ['at once', 'at once'],
    )
    assert.deepEqual(await database.rows('SELECT name, power, age FROM hero WHERE id = 1'), [
      { name: 'Robin', power: null, age: 7 },
    ])
  })

  test(`${kind.name}: a column that is NOT NULL needs the value of the rows that are there`, async (t) => {
    const database = await led(t, kind)
    const models = hero(() => ({ name: text(), power: { ...text(), allowNull: false } }))
    await database.sync(plain)
    await database.run(HEROES)
    assert.match(
      await database.refusal(models),
      /^hero\.power is new, and NOT NULL without a default\. .*--backfill hero\.power=/,
    )
    await database.lead(models, { backfill: [`hero.power=coalesce(name, 'none')`] })
    assert.deepEqual(await database.rows('SELECT power FROM hero ORDER BY id'), [
      { power: 'Robin' },
      { power: 'Hawk' },
      { power: 'none' },
    ])
    await assert.rejects(database.run(`INSERT INTO hero (name) VALUES ('x')`))
  })

  test(`${kind.name}: NOT NULL on a column counts the NULLs`, async (t) => {
    const database = await led(t, kind)
    const models = hero(() => ({ name: { ...text(), allowNull: false } }))
    await database.sync(plain)
    await database.run(HEROES)
    assert.match(await database.refusal(models), /^hero\.name becomes NOT NULL, and 1 row has NULL\./)
    await database.lead(models, { backfill: [`hero.name='nobody'`] })
    assert.deepEqual(await database.rows('SELECT name FROM hero ORDER BY id'), [
      { name: 'Robin' },
      { name: 'Hawk' },
      { name: 'nobody' },
    ])
  })

  test(`${kind.name}: --backfill that fills no column, and --new of what no model has, are refused`, async (t) => {
    const database = await led(t, kind)
    await database.sync(plain)
    await database.run(HEROES)
    const wide = hero(() => ({ name: text(60), power: text(), team: { ...text(), defaultValue: 'none' } }))
    for (const column of ['name', 'power', 'team', 'id'])
      assert.match(
        await database.refusal(wide, { backfill: [`hero.${column}='x'`] }),
        new RegExp(`^--backfill hero\\.${column} changes nothing: it is for a column that becomes NOT NULL, and`),
      )
    assert.equal(
      await database.refusal(wide, { new: ['hero.powr'] }),
      `--new hero.powr: no model has hero.powr. Did you mean 'hero.power'?`,
    )
    await database.lead(wide, { new: ['hero.power', 'hero'] })
  })

  test(`${kind.name}: a column may become nullable, and get another default`, async (t) => {
    const database = await led(t, kind)
    await database.sync(hero(() => ({ name: { ...text(), allowNull: false }, age: DataTypes.INTEGER })))
    await database.run(`INSERT INTO hero (name, age) VALUES ('Robin', 3)`)
    await database.lead(hero(() => ({ name: text(), age: { type: DataTypes.INTEGER, defaultValue: 5 } })))
    await database.run('INSERT INTO hero (name) VALUES (NULL)')
    assert.deepEqual(await database.rows('SELECT name, age FROM hero ORDER BY id'), [
      { name: 'Robin', age: 3 },
      { name: null, age: 5 },
    ])
  })

  test(`${kind.name}: a default, and NOT NULL, that only the database has stay until --drop`, async (t) => {
    const database = await led(t, kind)
    const models = hero(() => ({ name: text(), age: DataTypes.BIGINT, token: { ...text(), defaultValue: () => 'x' } }))
    await database.sync(
      hero(() => ({
        name: { ...text(), allowNull: false, defaultValue: 'new' },
        age: { type: DataTypes.INTEGER, defaultValue: 5 },
        token: { ...text(), allowNull: false },
      })),
    )
    const left = ['hero.name.default', 'hero.name.not-null', 'hero.age.default', 'hero.token.not-null']
    const { difference } = await database.plan(models)
    assert.deepEqual(
      difference.unknown.map((what) => /--drop ([^)]+)/.exec(what)?.[1]),
      left,
    )
    await database.lead(models)
    await database.start(models)
    await database.run(`INSERT INTO hero (token) VALUES ('a')`)
    await assert.rejects(database.run(`INSERT INTO hero (token, name) VALUES ('b', NULL)`))
    await assert.rejects(database.run('INSERT INTO hero (token) VALUES (NULL)'))
    const planned = await database.plan(models, { drop: left })
    assert.deepEqual(
      planned.files.map(({ contract }) => contract),
      [true],
    )
    await database.apply(planned)
    await database.run('INSERT INTO hero (token) VALUES (NULL)')
    const rows = await database.rows('SELECT name, age, token FROM hero ORDER BY id')
    assert.deepEqual(
      rows.map((row) => ({ ...row, age: Reflect.get(row, 'age') === null ? null : Number(Reflect.get(row, 'age')) })),
      [
        { name: 'new', age: 5, token: 'a' },
        { name: null, age: null, token: null },
      ],
    )
    assert.deepEqual((await database.plan(models)).difference.unknown, [])
  })

  test(`${kind.name}: a default that differs from the model's is changed, and one that the model states is not dropped`, async (t) => {
    const database = await led(t, kind)
    const models = (defaultValue: number) =>
      hero(() => ({ age: { type: DataTypes.INTEGER, allowNull: false, defaultValue } }))
    await database.sync(models(5))
    assert.match(await database.refusal(models(5), { drop: ['hero.age.default'] }), /it is stated by hero/)
    assert.match(await database.refusal(models(5), { drop: ['hero.age.not-null'] }), /it is stated by hero/)
    assert.match(
      await database.refusal(models(5), { drop: ['hero.id.default'] }),
      /the database has no hero\.id\.default/,
    )
    await database.lead(models(6))
    await database.run(
      database.kind === 'mariadb' ? 'INSERT INTO hero () VALUES ()' : 'INSERT INTO hero DEFAULT VALUES',
    )
    assert.deepEqual(await database.rows('SELECT age FROM hero'), [{ age: 6 }])
  })

  test(`${kind.name}: defaults and NOT NULL of tables and columns that no model has are dropped by --drop`, async (t) => {
    const database = await led(t, kind)
    await database.sync((define) => {
      const age = { type: DataTypes.INTEGER, allowNull: false, defaultValue: 5 }
      define('cape', { id: id(), age })
      define('hero', { id: id(), name: text(), age })
    })
    const drop = ['cape', 'hero'].flatMap((table) => [`${table}.age.default`, `${table}.age.not-null`])
    await database.lead(plain, { drop })
    await database.run(`INSERT INTO hero (name) VALUES ('x')`, 'INSERT INTO cape (age) VALUES (NULL)')
    assert.deepEqual(await database.rows('SELECT age FROM hero'), [{ age: null }])
  })

  test(`${kind.name}: a wider type keeps the values`, async (t) => {
    const database = await led(t, kind)
    await database.sync(hero(() => ({ name: text(20), age: DataTypes.INTEGER })))
    await database.run(`INSERT INTO hero (name, age) VALUES ('Robin', 3)`)
    await database.lead(hero(() => ({ name: text(50), age: DataTypes.BIGINT })))
    const [row] = await database.rows('SELECT name, age FROM hero')
    assert.deepEqual({ ...row, age: Number(Reflect.get(row ?? {}, 'age')) }, { name: 'Robin', age: 3 })
  })

  test(`${kind.name}: a narrower type needs --cast, and counts the rows that do not fit`, async (t) => {
    const database = await led(t, kind)
    const models = hero(() => ({ name: text(4) }))
    await database.sync(plain)
    await database.run(HEROES)
    assert.equal(
      await database.refusal(models),
      'hero.name: VARCHAR(50) -> VARCHAR(4) may lose values (1 row does not fit). Write their new value: --cast hero.name="<new value as SQL>"',
    )
    assert.match(await database.refusal(models, { cast: ['hero.name'] }), /1 row does not fit\. Change them first/)
    await database.lead(models, { cast: ['hero.name=substr(name, 1, 4)'] })
    assert.deepEqual(await database.rows('SELECT name FROM hero ORDER BY id'), [
      { name: 'Robi' },
      { name: 'Hawk' },
      { name: null },
    ])
  })

  test(`${kind.name}: texts become numbers by --cast`, async (t) => {
    const database = await led(t, kind)
    const models = hero(() => ({ name: DataTypes.INTEGER }))
    await database.sync(plain)
    await database.run(`INSERT INTO hero (name) VALUES ('12'), ('x'), (NULL)`)
    assert.match(await database.refusal(models, { cast: ['hero.name'] }), /1 row does not fit/)
    await database.run(`UPDATE hero SET name = '13' WHERE name = 'x'`)
    await database.lead(models, { cast: ['hero.name'] })
    assert.deepEqual(await database.rows('SELECT name FROM hero ORDER BY id'), [
      { name: 12 },
      { name: 13 },
      { name: null },
    ])
  })

  test(`${kind.name}: a column gets a new name only by --rename`, async (t) => {
    const database = await led(t, kind)
    const models = hero(
      () => ({ title: text() }),
      () => ({ indexes: [{ fields: ['title'], name: 'hero_name' }] }),
    )
    await database.sync(
      hero(
        () => ({ name: text() }),
        () => ({ indexes: [{ fields: ['name'], name: 'hero_name' }] }),
      ),
    )
    await database.run(HEROES)
    const { difference } = await database.plan(models)
    assert.deepEqual(
      difference.unclear.map(({ from, to }) => [from, to]),
      [['hero.name', 'title']],
    )
    const wrong = await database.refusal(models, { rename: ['hero.name:titel'] })
    assert.equal(wrong, '--rename hero.name:titel: hero has no column titel.')
    const steps = await database.lead(models, { rename: ['hero.name:title'] })
    assert.deepEqual(linesOf(steps), ['hero: rename column name to title | at once'])
    assert.deepEqual(await database.rows('SELECT title FROM hero WHERE id = 1'), [{ title: 'Robin' }])
  })

  test(`${kind.name}: a table gets a new name, and a column of it, with the keys that refer to it`, async (t) => {
    const database = await led(t, kind)
    const models =
      (table: string, key: string): Models =>
      (define) => {
        define(table, { [key]: id(), name: text() })
        define('cape', { id: id(), owner: { type: DataTypes.INTEGER, references: { model: table, key } } })
      }
    await database.sync(models('hero', 'id'))
    await database.run(HEROES, 'INSERT INTO cape (owner) VALUES (1)')
    const steps = await database.lead(models('heroes', 'number'), { rename: ['hero:heroes', 'hero.id:number'] })
    assert.equal(steps.length, 2)
    assert.deepEqual(await database.rows('SELECT name FROM heroes WHERE number = 1'), [{ name: 'Robin' }])
  })

  test(`${kind.name}: a column is dropped only by --drop, in a file of its own`, async (t) => {
    const database = await led(t, kind)
    const models = hero(() => ({}))
    await database.sync(plain)
    await database.run(HEROES)
    const { difference, files } = await database.plan(models)
    assert.deepEqual([difference.changes, files], [[], []])
    assert.deepEqual(
      difference.unknownColumns.map(({ column }) => column.name),
      ['name'],
    )
    const planned = await database.plan(models, { drop: ['hero.name'] })
    assert.deepEqual(
      planned.files.map(({ contract }) => contract),
      [true],
    )
    await database.apply(planned)
    assert.deepEqual(await database.rows('SELECT * FROM hero'), [{ id: 1 }, { id: 2 }, { id: 3 }])
  })

  test(`${kind.name}: rows may be added without a column before it is dropped`, async (t) => {
    const database = await led(t, kind)
    await database.sync(hero(() => ({ name: { ...text(), allowNull: false }, age: DataTypes.INTEGER })))
    await database.run(`INSERT INTO hero (name, age) VALUES ('Robin', 1)`)
    const { files } = await database.plan(
      hero(() => ({ age: DataTypes.INTEGER })),
      { drop: ['hero.name'] },
    )
    assert.deepEqual(
      files.map(({ contract }) => contract),
      [false, true],
    )
    await database.apply({ files: files.slice(0, 1) })
    await database.run('INSERT INTO hero (age) VALUES (2)')
    await database.apply({ files: files.slice(1) })
    assert.deepEqual(await database.rows('SELECT * FROM hero ORDER BY id'), [
      { id: 1, age: 1 },
      { id: 2, age: 2 },
    ])
  })

  test(`${kind.name}: tables, indexes and constraints are dropped by --drop`, async (t) => {
    const database = await led(t, kind)
    const indexes = [{ fields: ['name'], name: 'hero_by_name' }]
    await database.sync((define) => {
      define('hero', { id: id(), name: text() }, { indexes })
      define('cape', { id: id() })
    })
    await database.lead(plain, { drop: ['hero.hero_by_name', 'cape'] })
    await assert.rejects(database.rows('SELECT * FROM cape'))
    await database.run(`CREATE INDEX hero_by_name ON hero (name)`)
  })

  test(`${kind.name}: an option for what the models have, or do not have, says what to write`, async (t) => {
    const database = await led(t, kind)
    await database.sync(plain)
    assert.equal(
      await database.refusal(plain, { drop: ['hero.name'] }),
      '--drop hero.name: it is a column of hero. Leave it out there first.',
    )
    assert.equal(
      await database.refusal(plain, { drop: ['hero'] }),
      '--drop hero: it is the table of hero. Leave that out of the models first.',
    )
    assert.equal(
      await database.refusal(plain, { cast: ['hero'] }),
      "--cast hero: no model has the column hero. Did you mean 'hero.id' or 'hero.name'?",
    )
  })

  test(`${kind.name}: a table to which another one refers is dropped with it, or with its foreign key`, async (t) => {
    const database = await led(t, kind)
    const key = (model: string) => ({ type: DataTypes.INTEGER, references: { model, key: 'id' } })
    const models =
      (...names: readonly string[]): Models =>
      (define) => {
        define('hero', { id: id(), name: text() })
        if (names.includes('author')) define('author', { id: id() })
        if (names.includes('book')) define('book', { id: id(), author_id: key('author') })
        if (names.includes('loan')) define('loan', { id: id(), book_id: key('book') })
      }
    await database.sync(models('author', 'book', 'loan'))
    await database.run(
      'INSERT INTO author (id) VALUES (1)',
      'INSERT INTO book (author_id) VALUES (1)',
      'INSERT INTO loan (book_id) VALUES (1)',
    )
    const refusal = await database.refusal(models(), { drop: ['author'] })
    const [, option = ''] =
      /^--drop author: the foreign key author_id of book refers to it\. Drop that, too: --drop "(foreign key [^"]+)"$/.exec(
        refusal,
      ) ?? assert.fail(refusal)
    await database.lead(models(), { drop: ['author', option] })
    await database.run('INSERT INTO book (author_id) VALUES (7)')
    await database.lead(models(), { drop: ['book', 'loan'] })
    for (const name of ['author', 'book', 'loan']) await assert.rejects(database.rows(`SELECT * FROM ${name}`))
  })

  test(`${kind.name}: a table to which a column refers is dropped with the column`, async (t) => {
    const database = await led(t, kind)
    const models =
      (isThere: boolean): Models =>
      (define) => {
        if (isThere) define('team', { id: id() })
        const team = { type: DataTypes.INTEGER, references: { model: 'team', key: 'id' } }
        define('hero', { id: id(), name: text(), ...(isThere ? { team_id: team } : {}) })
      }
    await database.sync(models(true))
    await database.run('INSERT INTO team (id) VALUES (1)', `INSERT INTO hero (name, team_id) VALUES ('Robin', 1)`)
    await database.lead(models(false), { drop: ['hero.team_id', 'team'] })
    assert.deepEqual(await database.rows('SELECT * FROM hero'), [{ id: 1, name: 'Robin' }])
  })

  test(`${kind.name}: tables that refer to each other are dropped together`, async (t) => {
    const database = await led(t, kind)
    const models =
      (isThere: boolean): Models =>
      (define) => {
        define('hero', { id: id(), name: text() })
        if (!isThere) return
        define('team', { id: id() })
        define('cape', { id: id(), team_id: { type: DataTypes.INTEGER, references: { model: 'team', key: 'id' } } })
      }
    await database.sync(models(true))
    if (kind.kind === 'sqlite') await database.run('ALTER TABLE team ADD COLUMN cape_id INTEGER REFERENCES cape (id)')
    else
      await database.run(
        'ALTER TABLE team ADD COLUMN cape_id INTEGER',
        'ALTER TABLE team ADD CONSTRAINT caped FOREIGN KEY (cape_id) REFERENCES cape (id)',
      )
    await database.run(
      'INSERT INTO team (id) VALUES (1)',
      'INSERT INTO cape (id, team_id) VALUES (1, 1)',
      'UPDATE team SET cape_id = 1',
    )
    await database.lead(models(false), { drop: ['team', 'cape'] })
    for (const name of ['team', 'cape']) await assert.rejects(database.rows(`SELECT * FROM ${name}`))
  })

  test(`${kind.name}: indexes are added, and replaced by others of the same name`, async (t) => {
    const database = await led(t, kind)
    await database.sync(hero(() => ({ name: text(), age: DataTypes.INTEGER })))
    await database.run(HEROES)
    const indexed = (...fields: string[]) =>
      hero(
        () => ({ name: text(), age: DataTypes.INTEGER }),
        () => ({ indexes: [{ fields, name: 'hero_index' }] }),
      )
    const [step] = linesOf(await database.lead(indexed('name')))
    assert.match(
      step ?? '',
      /^hero: add index hero_index.* \| reads 3 rows, (?:blocks nobody|nobody writes meanwhile)$/,
    )
    await database.lead(indexed('name', 'age'))
  })

  test(`${kind.name}: a unique column counts the duplicates`, async (t) => {
    const database = await led(t, kind)
    const models = hero(() => ({ name: { ...text(), unique: true } }))
    await database.sync(plain)
    await database.run(HEROES, `INSERT INTO hero (name) VALUES ('Robin')`)
    assert.match(await database.refusal(models), /hero \(name\) becomes unique, and 1 row repeats/)
    await database.run(`DELETE FROM hero WHERE id = 4`)
    await database.lead(models)
    await assert.rejects(database.run(`INSERT INTO hero (name) VALUES ('Robin')`))
  })

  test(`${kind.name}: a foreign key counts the orphans, and may get other actions`, async (t) => {
    const database = await led(t, kind)
    const models =
      (onDelete: string | undefined): Models =>
      (define) => {
        define('team', { id: id() })
        const references = onDelete === undefined ? {} : { references: { model: 'team', key: 'id' }, onDelete }
        define('hero', { id: id(), name: text(), team_id: { type: DataTypes.INTEGER, ...references } })
      }
    await database.sync(models(undefined))
    await database.run(HEROES, 'UPDATE hero SET team_id = 1 WHERE id = 1')
    assert.match(
      await database.refusal(models('CASCADE')),
      /hero \(team_id\) becomes a foreign key, and 1 row refers to no row of team/,
    )
    await database.run(
      database.kind === 'postgres' ? 'INSERT INTO team VALUES (1)' : 'INSERT INTO team (id) VALUES (1)',
    )
    await database.lead(models('CASCADE'))
    await database.lead(models('SET NULL'))
    await database.run('DELETE FROM team')
    assert.deepEqual(await database.rows('SELECT team_id FROM hero WHERE id = 1'), [{ team_id: null }])
  })

  test(`${kind.name}: a new column with a foreign key`, async (t) => {
    const database = await led(t, kind)
    await database.sync(plain)
    await database.run(HEROES)
    await database.lead((define) => {
      define('team', { id: id() })
      define('hero', {
        id: id(),
        name: text(),
        team_id: { type: DataTypes.INTEGER, references: { model: 'team', key: 'id' }, onDelete: 'CASCADE' },
      })
    })
  })

  test(`${kind.name}: an enum gets a value, and loses one that no row has`, async (t) => {
    const database = await led(t, kind)
    const models = (...values: string[]) =>
      hero(() => ({ name: text(), state: { type: DataTypes.ENUM(...values), allowNull: false, defaultValue: 'new' } }))
    await database.sync(models('new', 'old'))
    await database.run(`INSERT INTO hero (state) VALUES ('old')`)
    await database.lead(models('new', 'busy', 'old'))
    await database.run(`INSERT INTO hero (state) VALUES ('busy')`)
    if (database.kind !== 'sqlite')
      assert.match(
        await database.refusal(models('new', 'old')),
        /hero\.state: without the value busy: 1 row does not fit/,
      )
    await database.run(`UPDATE hero SET state = 'new' WHERE state = 'busy'`)
    await database.lead(models('new', 'old'))
    await database.run(`INSERT INTO hero (name) VALUES ('x')`)
    assert.deepEqual(await database.rows('SELECT state FROM hero ORDER BY id'), [
      { state: 'old' },
      { state: 'new' },
      { state: 'new' },
    ])
  })

  test(`${kind.name}: a value that an enum loses becomes one that it gets, by --cast`, async (t) => {
    const database = await led(t, kind)
    const models = (...values: string[]) =>
      hero(() => ({ name: text(), state: { type: DataTypes.ENUM(...values), allowNull: false, defaultValue: 'new' } }))
    await database.sync(models('new', 'old'))
    await database.run(`INSERT INTO hero (state) VALUES ('old'), ('new'), ('old')`)
    const wanted = models('new', `it's`)
    const cast = (sql: string) => ({ cast: [`hero.state=${sql}`] })
    if (database.kind === 'sqlite')
      assert.deepEqual((await database.plan(wanted)).remarks, [
        'hero.state: 2 rows have a value that the model does not have. --cast hero.state="<new value as SQL>"',
      ])
    else assert.match(await database.refusal(wanted), /hero\.state: without the value old: 2 rows do not fit/)
    assert.equal(
      await database.refusal(wanted, cast(`case when state = 'old' then 'gone' else state end`)),
      'hero.state: by that --cast, 2 rows do not fit.',
    )
    await database.lead(wanted, cast(`case when hero.state = 'old' then 'it''s' else state end`))
    await database.run(`INSERT INTO hero (name) VALUES ('x')`)
    assert.deepEqual(
      await database.rows('SELECT state FROM hero ORDER BY id'),
      [`it's`, 'new', `it's`, 'new'].map((state) => ({ state })),
    )
    assert.deepEqual((await database.plan(wanted)).remarks, [])
  })

  test(`${kind.name}: --cast of a column whose type stays is refused, and one of a wider type is executed`, async (t) => {
    const database = await led(t, kind)
    await database.sync(plain)
    await database.run(HEROES)
    const cast = { cast: [`hero.name=replace(name, 'R', 'B')`] }
    assert.equal(await database.refusal(plain, cast), '--cast hero.name: the type of the column does not change.')
    await database.lead(
      hero(() => ({ name: text(60) })),
      cast,
    )
    assert.deepEqual(await database.rows('SELECT name FROM hero WHERE id = 1'), [{ name: 'Bobin' }])
  })

  test(`${kind.name}: a change of a primary key is left to people, and the others are written`, async (t) => {
    const database = await led(t, kind)
    const models =
      (keys: readonly string[], columns: ModelAttributes): Models =>
      (define) => {
        const all = ['year', 'month', 'place'].map((name) => {
          const isKey = keys.includes(name)
          return [name, { type: DataTypes.INTEGER, allowNull: false, ...(isKey ? { primaryKey: true } : {}) }]
        })
        define('ledger', { ...Object.fromEntries(all), ...columns })
      }
    await database.sync(models(['year', 'month'], {}))
    const planned = await database.plan(models(['year', 'month', 'place'], { note: text() }))
    assert.deepEqual(planned.byHand, [
      'ledger: the primary key (year, month) cannot become (year, month, place) by itself. Write this migration by hand: docs/migrations.md, "By hand".',
    ])
    await database.apply(planned)
    await database.assertSame(models(['year', 'month'], { note: text() }))
  })

  test(`${kind.name}: what the model had unique, indexed, or as a foreign key is named, and dropped by that name`, async (t) => {
    const database = await led(t, kind)
    const models =
      (isKeyed: boolean): Models =>
      (define) => {
        define('team', { id: id() })
        const key = isKeyed ? { references: { model: 'team', key: 'id' } } : {}
        const indexes = isKeyed ? [{ fields: ['power'] }] : []
        const columns = { name: { ...text(), unique: isKeyed }, power: text() }
        define('hero', { id: id(), ...columns, team_id: { type: DataTypes.INTEGER, ...key } }, { indexes })
      }
    await database.sync(models(true))
    const { difference, files } = await database.plan(models(false))
    const keys = difference.unknownKeys
    assert.deepEqual([keys.length, files], [3, []])
    assert.ok(keys.includes('index hero.hero_power'))
    assert.ok(keys.some((key) => key.startsWith('foreign key hero.')))
    await database.lead(models(false), { drop: keys })
    assert.deepEqual((await database.plan(models(false))).difference.unknownKeys, [])
    await database.run(`INSERT INTO hero (name, team_id) VALUES ('Robin', 7), ('Robin', 8)`)
  })

  test(`${kind.name}: names with quotes, spaces and reserved words`, async (t) => {
    const database = await led(t, kind)
    const names = ['select', 'two words', `it's`, 'Capital', 'grün']
    const models =
      (count: number): Models =>
      (define) =>
        void define(
          'order',
          Object.fromEntries([['id', id()], ...names.slice(0, count).map((name) => [name, text()])]),
          {
            indexes: names.slice(0, count).map((name, index) => ({ fields: [name], name: `i ${index}` })),
          },
        )
    await database.lead(models(2))
    await database.lead(models(names.length))
    await database.lead(models(2), { drop: names.slice(2).map((name) => `order.${name}`) })
  })

  test(`${kind.name}: a default of the table is left alone where the model has none, or one that Sequelize applies`, async (t) => {
    const database = await led(t, kind)
    const models =
      (defaultValue: unknown): Models =>
      (define) =>
        void define(
          'hero',
          { id: id(), made: { type: DataTypes.DATE, defaultValue } },
          { timestamps: true, updatedAt: false },
        )
    const type = { sqlite: 'DATETIME', postgres: 'TIMESTAMPTZ', mariadb: 'DATETIME(3)' }[database.kind]
    await database.sync(models(undefined))
    await database.run(
      `ALTER TABLE hero DROP COLUMN made`,
      `ALTER TABLE hero ADD COLUMN made ${type} DEFAULT '2026-01-01 00:00:00'`,
    )
    await database.assertSame(models(DataTypes.NOW))
    await database.assertSame(models(undefined))
  })

  test(`${kind.name}: NOT NULL of the database alone goes with the default that it needs`, async (t) => {
    const database = await led(t, kind)
    const models = hero(() => ({ age: DataTypes.INTEGER }))
    await database.sync(hero(() => ({ age: { type: DataTypes.INTEGER, allowNull: false, defaultValue: 7 } })))
    await database.assertSame(models)
    await database.lead(models, { drop: ['hero.age.default'] })
    await database.run('INSERT INTO hero (age) VALUES (NULL)')
    await database.start(models)
  })

  test(`${kind.name}: a model may read a view`, async (t) => {
    const database = await led(t, kind)
    await database.sync(plain)
    await database.run('CREATE VIEW names AS SELECT id, name FROM hero')
    await database.assertSame((define) => {
      plain(define)
      define('names', { id: { type: DataTypes.INTEGER, primaryKey: true }, name: text() })
    })
  })

  test(`${kind.name}: the way back is written where it loses nothing`, async (t) => {
    const database = await led(t, kind)
    const before = hero(() => ({ name: { ...text(), allowNull: false }, age: DataTypes.INTEGER }))
    const after = hero(
      () => ({ title: text(), age: { type: DataTypes.INTEGER, defaultValue: 3 }, power: text() }),
      () => ({ indexes: [{ fields: ['age'], name: 'hero_age' }] }),
    )
    await database.sync(before)
    await database.run(`INSERT INTO hero (name, age) VALUES ('Robin', 1)`)
    const planned = await database.planWithBack(after, { rename: ['hero.name:title'] })
    const { file, left } = planned.wayBack
    await database.apply(planned)
    assert.deepEqual(left, ['hero.power'])
    await database.apply({ files: file ? [file] : [] })
    const { difference } = await database.plan(before)
    assert.deepEqual(difference.changes, [])
    assert.deepEqual(
      difference.unknownColumns.map(({ column }) => column.name),
      ['power'],
    )
    assert.deepEqual(difference.unknown, [])
    assert.deepEqual(await database.rows('SELECT name, age FROM hero'), [{ name: 'Robin', age: 1 }])
  })

  test(`${kind.name}: a default that differs from row to row is written`, async (t) => {
    const database = await led(t, kind)
    await database.sync(plain)
    await database.run(HEROES)
    const now = literal('CURRENT_TIMESTAMP')
    await database.lead(
      hero(() => ({ name: text(), made: { type: DataTypes.DATE, allowNull: false, defaultValue: now } })),
    )
  })
}

const postgres = migratedDatabases.find(({ kind }) => kind === 'postgres')

test('PostgreSQL: an invalid index that a failed step has left is dropped, and made again', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.sync(plain)
  await database.run(`INSERT INTO hero (name) VALUES ('Robin'), ('Robin')`)
  await assert.rejects(database.run('CREATE UNIQUE INDEX CONCURRENTLY hero_name_key ON hero (name)'))
  await database.run('DELETE FROM hero WHERE id = 2')
  const steps = await database.lead(hero(() => ({ name: { ...text(), unique: true } })))
  assert.deepEqual(
    linesOf(steps).map((line) => line.split(' |')[0]),
    [
      'hero: drop the invalid index hero_name_key, CONCURRENTLY',
      'hero: add unique index hero_name_key_2, CONCURRENTLY',
      'hero: make it the constraint UNIQUE (name)',
    ],
  )
})

test('PostgreSQL: the message of a failed CREATE INDEX CONCURRENTLY says that an invalid index may remain', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.sync(plain)
  const { files } = await database.plan(hero(() => ({ name: { ...text(), unique: true } })))
  await database.run(`INSERT INTO hero (name) VALUES ('Robin'), ('Robin')`)
  await assert.rejects(database.apply({ files }), {
    message: /\nAn invalid index of it may remain: the next run drops it, and makes it again\.$/,
  })
  const invalid = 'SELECT 1 AS one FROM pg_index WHERE NOT indisvalid'
  assert.deepEqual(await database.rows(invalid), [{ one: 1 }])
  await database.run('DELETE FROM hero WHERE id = 2')
  await database.apply({ files: [] })
  assert.deepEqual(await database.rows(invalid), [])
})

test('PostgreSQL: a table and an enum type in a new schema', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  const columns = { id: id(), state: DataTypes.ENUM('open', 'closed') }
  const schema = 'Own books'
  const steps = await database.lead((define) => void define('ledger', columns, { schema }))
  assert.deepEqual(linesOf(steps)[0], 'Own books: create schema | at once')
  await database.run(`INSERT INTO "Own books".ledger (state) VALUES ('open')`)
})

test('PostgreSQL: NOT NULL is validated as a CHECK, and rows are filled in batches', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.sync(plain)
  await database.run(HEROES)
  const steps = await database.lead(
    hero(() => ({ name: { ...text(), allowNull: false } })),
    { backfill: [`hero.name='x'`] },
  )
  assert.deepEqual(linesOf(steps), [
    'hero: set name where it is NULL, in batches | writes 3 rows, blocks nobody',
    'hero: add check name IS NOT NULL, NOT VALID | at once',
    'hero: set name of rows that came meanwhile | reads 3 rows, blocks nobody',
    'hero: validate it | reads 3 rows, blocks nobody',
    'hero: set NOT NULL on name | at once',
    'hero: drop the check | at once',
  ])
})

test('PostgreSQL: a longer text changes only the catalog, a larger number writes the rows again and says so', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.sync(hero(() => ({ name: text(20), age: DataTypes.INTEGER })))
  const steps = await database.lead(hero(() => ({ name: DataTypes.TEXT, age: DataTypes.BIGINT })))
  assert.deepEqual(
    steps.map(({ note }) => note),
    ['at once', 'rewrites 0 rows, nobody reads or writes meanwhile'],
  )
  assert.deepEqual(
    steps.map(({ rewritten = [] }) => rewritten.map(({ column }) => column.name)),
    [[], ['age']],
  )
})

for (const [from, to, last, next] of [
  ['SERIAL', DataTypes.BIGINT, 2147483647, '2147483648'],
  ['SMALLSERIAL', DataTypes.INTEGER, 32767, 32768],
] as const)
  test(`PostgreSQL: the sequence of a ${from} column gets its larger type`, async (t) => {
    const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
    const wide = () => ({ ...id(), type: to })
    const models: Models = (define) => {
      define('hero', { name: text(), id: wide(), age: DataTypes.BIGINT })
      define('other', { id: wide() }, { schema: 'Museum', tableName: 'hero' })
    }
    await database.run(
      'CREATE SCHEMA "Museum"',
      `CREATE TABLE hero (name VARCHAR(50), id ${from} PRIMARY KEY, age INTEGER)`,
      `CREATE TABLE "Museum".hero (id ${from} PRIMARY KEY)`,
    )
    const steps = await database.lead(models)
    assert.deepEqual(
      linesOf(steps.filter(({ table }) => table === 'hero')).map((line) => line.replace(/\(.*?\)/g, '')),
      [
        `hero: change id from ${from === 'SERIAL' ? 'INTEGER' : 'SMALLINT'} to ${to.key}; change age from INTEGER to BIGINT | rewrites 0 rows, nobody reads or writes meanwhile`,
        `hero: change the sequence of id to ${to.key} | at once`,
      ],
    )
    for (const table of ['hero', '"Museum".hero']) {
      await database.run(`SELECT setval(pg_get_serial_sequence('${table}', 'id'), ${last})`)
      assert.deepEqual(await database.rows(`INSERT INTO ${table} DEFAULT VALUES RETURNING id`), [{ id: next }])
    }
    assert.deepEqual(
      await database.rows(
        `SELECT DISTINCT data_type::text AS type FROM pg_sequences WHERE sequencename = 'hero_id_seq'`,
      ),
      [{ type: to.key.toLowerCase() }],
    )
  })

test('PostgreSQL: a sequence that ends before its column does is a difference', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  const models: Models = (define) => void define('hero', { id: { ...id(), type: DataTypes.BIGINT } })
  await database.run('CREATE TABLE hero (id SERIAL PRIMARY KEY)', 'ALTER TABLE hero ALTER id TYPE BIGINT')
  assert.deepEqual(linesOf(await database.lead(models)), ['hero: change the sequence of id to BIGINT | at once'])
  await database.run(`SELECT setval('hero_id_seq', 2147483647)`, 'INSERT INTO hero DEFAULT VALUES')
})

for (const [what, create, columns, cast, condition] of [
  [
    'an index',
    `CREATE TABLE hero (id SERIAL PRIMARY KEY, s st NOT NULL DEFAULT 'a'); CREATE INDEX hero_s ON hero (id) WHERE s = 'a'`,
    () => ({ s: { type: DataTypes.ENUM('a', 'b'), allowNull: false, defaultValue: 'a' } }),
    ['hero.s'],
    'index hero_s',
  ],
  [
    'a CHECK of two columns, and an index of an expression',
    `CREATE TABLE hero (id SERIAL PRIMARY KEY, s st, CHECK (s <> 'c' OR id > 0)); CREATE INDEX hero_s ON hero ((s = 'b'))`,
    () => ({ s: DataTypes.ENUM('a', 'b') }),
    [`hero.s=CASE WHEN hero.s = 'c' THEN 'a' ELSE hero.s END`],
    'check hero_check, index hero_s',
  ],
  [
    'a CHECK of a text',
    `CREATE TABLE hero (id SERIAL PRIMARY KEY, s TEXT CHECK (s <> ''))`,
    () => ({ s: DataTypes.INTEGER }),
    ['hero.s'],
    'check hero_s_check',
  ],
  [
    'a CHECK of a number',
    `CREATE TABLE hero (id SERIAL PRIMARY KEY, s INTEGER CHECK (s > 0))`,
    () => ({ s: DataTypes.TEXT }),
    ['hero.s'],
    'check hero_s_check',
  ],
] as const)
  test(`PostgreSQL: a type is refused before it is written while ${what} compares the column with the old one`, async (t) => {
    const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
    const models = hero(columns)
    await database.run(`CREATE TYPE st AS ENUM ('a', 'b', 'c')`, create)
    const refusal = await database.refusal(models, { cast })
    const them = condition.includes(',') ? 'them' : 'it'
    assert.match(
      refusal,
      /^hero\.s is compared by .*: PostgreSQL refuses the new type meanwhile: operator does not exist: .*/,
    )
    assert.ok(refusal.startsWith(`hero.s is compared by ${condition}: `), refusal)
    assert.ok(refusal.endsWith(`. Drop ${them} first, and create ${them} again afterwards.`), refusal)
    for (const part of condition.split(', ')) {
      const [kind, name] = part.split(' ')
      await database.run(kind === 'index' ? `DROP INDEX ${name}` : `ALTER TABLE hero DROP CONSTRAINT ${name}`)
    }
    await database.lead(models, { cast })
  })

test('PostgreSQL: a type that an index does not have is refused before it is written, with what the server says', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.run('CREATE TABLE hero (id SERIAL PRIMARY KEY, s TEXT)', 'CREATE INDEX hero_s ON hero (s)')
  assert.match(
    await database.refusal(
      hero(() => ({ s: DataTypes.JSON })),
      { cast: ['hero.s'] },
    ),
    /^hero\.s: PostgreSQL refuses the new type: .*operator class.*\. Write this migration by hand:\nALTER TABLE hero ALTER COLUMN s TYPE JSON/,
  )
})

test('PostgreSQL: CHECKs and indexes that the new types fit stay, also those of two columns, and of renamed ones', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.run(
    'CREATE SCHEMA "Museum"',
    `CREATE TABLE "Museum".hero (id INTEGER GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, name VARCHAR(20) CHECK (name <> ''),
       age INTEGER CHECK (age > 0), born INTEGER, died INTEGER, lower TEXT GENERATED ALWAYS AS (lower(name)) STORED,
       CHECK (born < died), UNIQUE (age, born))`,
    `CREATE INDEX hero_name ON "Museum".hero ((name || 'x')) WHERE age > 1`,
  )
  const models: Models = (define) =>
    void define(
      'person',
      {
        id: { ...id(), type: DataTypes.BIGINT },
        name: text(20),
        years: DataTypes.BIGINT,
        born: DataTypes.TEXT,
        died: DataTypes.TEXT,
      },
      { schema: 'Museum' },
    )
  await database.lead(models, {
    rename: ['Museum.hero:person', 'Museum.hero.age:years'],
    cast: ['Museum.person.born', 'Museum.person.died'],
  })
  assert.deepEqual(
    await database.rows(
      `SELECT count(*)::int AS checks FROM pg_constraint WHERE contype = 'c' AND connamespace = '"Museum"'::regnamespace`,
    ),
    [{ checks: 3 }],
  )
})

test('PostgreSQL: new types that the role cannot try are planned', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  const states = (...values: readonly string[]) => hero(() => ({ state: DataTypes.ENUM(...values) }))
  const role = `no_types_${randomBytes(4).toString('hex')}`
  const limited = new Led(
    'postgres',
    Object.assign(new URL(database.url), { username: role, password: 'x' }).href,
    migrationFolder(t),
  )
  await database.sync(states('new', 'old'))
  await database.run(
    `CREATE ROLE ${role} LOGIN PASSWORD 'x'`,
    'REVOKE CREATE ON SCHEMA public FROM PUBLIC',
    `GRANT SELECT ON hero TO ${role}`,
  )
  t.after(async () => {
    await limited.close()
    await database.run(`DROP OWNED BY ${role}`, `DROP ROLE ${role}`)
    await database.close()
  })
  await assert.rejects(limited.run(`CREATE TYPE mood AS ENUM ('good')`), /permission denied/)
  const { files } = await limited.plan(states('new'))
  assert.match(linesOf(files.flatMap(({ steps }) => steps)).join(), /change the values of state to new/)
})

test('PostgreSQL: a table that is found by the search path is that of the model, whatever the first schema is', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.sync(plain)
  await database.run(
    HEROES,
    'CREATE SCHEMA app',
    `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = app, public', current_database()); END $$`,
  )
  await database.assertSame(plain)
  await database.lead(hero(() => ({ name: text(), power: text() })))
  assert.deepEqual(await database.rows('SELECT count(*)::int AS count FROM hero'), [{ count: 3 }])
})

test('PostgreSQL: an index gets another name than a table has', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.sync(plain)
  await database.run('CREATE TABLE hero_name (id INTEGER)')
  await database.lead(
    hero(
      () => ({ name: text() }),
      () => ({ indexes: [{ fields: ['name'] }] }),
    ),
  )
})

test('PostgreSQL: indexes and constraints of a computed column are there after its expression has changed', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  const computed = (factor: number) =>
    hero(
      () => ({ age: DataTypes.INTEGER, twice: `INTEGER GENERATED ALWAYS AS (age * ${factor}) STORED` }),
      () => ({ indexes: [{ fields: ['twice'] }] }),
    )
  await database.sync(computed(2))
  await database.run(
    'CREATE INDEX of_people ON hero (twice, age)',
    'ALTER TABLE hero ADD UNIQUE (twice)',
    'INSERT INTO hero (age) VALUES (3)',
  )
  await database.lead(computed(3))
  assert.deepEqual(await database.rows('SELECT twice FROM hero'), [{ twice: 9 }])
  assert.deepEqual(
    (await database.rows(`SELECT indexname AS name FROM pg_indexes WHERE tablename = 'hero' ORDER BY 1`)).map((row) =>
      Reflect.get(row, 'name'),
    ),
    ['hero_pkey', 'hero_twice', 'hero_twice_key', 'of_people'],
  )
})

test('PostgreSQL: a default that takes a number from a sequence of another table is written, and is no difference', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  const counted = (allowNull = false) => ({
    type: DataTypes.INTEGER,
    allowNull,
    defaultValue: literal(`nextval('numbers')`),
  })
  const models: Models = (define) => {
    define('hero', { id: id(), age: counted(), size: counted(true) })
    define('team', { id: id(), age: counted() })
  }
  await database.sync(hero(() => ({ age: DataTypes.INTEGER })))
  await database.run('CREATE SEQUENCE numbers')
  await database.lead(models)
  await database.run('INSERT INTO team DEFAULT VALUES', 'INSERT INTO hero DEFAULT VALUES')
  const sql = 'SELECT team.age + hero.age + hero.size AS sum FROM team, hero'
  assert.deepEqual(await database.rows(sql), [{ sum: 6 }])
})

test('PostgreSQL: a partitioned table gets indexes and keys, and no unique one without the columns of its partitions', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  const models =
    (columns: () => ModelAttributes, options: () => object = () => ({})): Models =>
    (define) => {
      define('team', { id: id() })
      const key = () => ({ type: DataTypes.INTEGER, primaryKey: true })
      define('event', { id: key(), at: key(), team_id: DataTypes.INTEGER, ...columns() }, options())
    }
  await database.run(
    'CREATE TABLE team (id SERIAL PRIMARY KEY)',
    'CREATE TABLE event (id INTEGER, at INTEGER, team_id INTEGER, PRIMARY KEY (id, at)) PARTITION BY RANGE (at)',
  )
  const message = /^event \(team_id\) becomes unique, and the table is partitioned by at: /
  assert.match(await database.refusal(models(() => ({ team_id: { type: DataTypes.INTEGER, unique: true } }))), message)
  const refused = models(
    () => ({}),
    () => ({ indexes: [{ unique: true, fields: ['team_id'] }] }),
  )
  assert.match(await database.refusal(refused), message)
  await database.lead(
    models(
      () => ({ team_id: { type: DataTypes.INTEGER, references: { model: 'team', key: 'id' } } }),
      () => ({ indexes: [{ fields: ['team_id'] }, { unique: true, fields: ['team_id', 'at'] }] }),
    ),
  )
})

test('PostgreSQL: a text whose type changes keeps the collation that only the database knows', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  const computed = (name: string) => `TEXT GENERATED ALWAYS AS (${name}(code)) STORED`
  const models = (length: number, lower: string) =>
    hero(() => ({ name: { ...text(length), unique: true }, code: text(), lower }))
  await database.run(
    `CREATE TABLE hero (id SERIAL PRIMARY KEY, name VARCHAR(20) COLLATE "C" UNIQUE, code VARCHAR(50),
       lower TEXT COLLATE "C" GENERATED ALWAYS AS (lower(code)) STORED)`,
  )
  const steps = await database.lead(models(80, computed('upper')))
  assert.deepEqual(linesOf(steps)[0], 'hero: change name from VARCHAR(20) to VARCHAR(80) | at once')
  assert.deepEqual(
    await database.rows(
      `SELECT a.attname AS name, c.collname AS collation FROM pg_attribute a JOIN pg_collation c ON c.oid = a.attcollation
       WHERE a.attrelid = CAST('hero' AS regclass) AND a.attname IN ('name', 'lower') ORDER BY 1`,
    ),
    [
      { name: 'lower', collation: 'C' },
      { name: 'name', collation: 'C' },
    ],
  )
})

test('PostgreSQL: a column that something reads does not change its type, and is not dropped', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  const computed = () => ({ name: text(), lower: 'TEXT GENERATED ALWAYS AS (lower(name)) STORED' })
  await database.sync(hero(computed))
  await database.run(
    'CREATE VIEW names AS SELECT name FROM hero',
    'CREATE MATERIALIZED VIEW numbers AS SELECT count(*) FROM hero',
    'CREATE POLICY own ON hero USING (name > id::text)',
  )
  assert.equal(
    await database.refusal(hero(() => ({ ...computed(), name: text(80) }))),
    'hero.name is read by computed column lower, policy own on table hero, view names: PostgreSQL does not change its type meanwhile. Write this migration by hand: drop them, change the column, create them again.',
  )
  assert.equal(
    await database.refusal(plainKey, { drop: ['hero.name'] }),
    'hero.name is read by computed column lower, policy own on table hero, view names: PostgreSQL does not drop it meanwhile. Drop them first.',
  )
  await database.lead(hero(() => ({ ...computed(), power: text() })))
  await database.run('DROP VIEW names', 'DROP POLICY own ON hero')
  await database.lead(plainKey, { drop: ['hero.name', 'hero.lower', 'hero.power'] })
})

for (const [name, from, to, value, fitting] of [
  ['a moment to a day', DataTypes.DATE, DataTypes.DATEONLY, `'2026-01-01 12:34:56+00'`, `'2026-01-01 00:00+00'`],
  ['an integer to a double', DataTypes.BIGINT, DataTypes.DOUBLE, '9007199254740993', '9007199254740992'],
  ['a decimal to an integer', DataTypes.DECIMAL(10, 2), DataTypes.INTEGER, '1.5', '2.00'],
  ['a double to a float', DataTypes.DOUBLE, DataTypes.REAL, '0.123456789', '0.5'],
] as const)
  test(`PostgreSQL: no value changes silently from ${name}, also in a database with other rows`, async (t) => {
    const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
    const models = hero(() => ({ at: { type: to } }))
    await database.sync(hero(() => ({ at: { type: from } })))
    await database.run(`INSERT INTO hero (at) VALUES (${value})`)
    assert.match(await database.refusal(models), /1 row does not fit/)
    await database.run('DELETE FROM hero')
    const planned = await database.plan(models, { cast: ['hero.at'] })
    await database.run(`INSERT INTO hero (at) VALUES (${value})`)
    await assert.rejects(database.apply(planned), /does not fit/)
    await database.run(`UPDATE hero SET at = ${fitting}`)
    await database.apply({ files: [] })
    await database.assertSame(models)
  })

test('PostgreSQL: an enum type of another name loses a value, and one with the longest name', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.run(
    `CREATE TYPE mood AS ENUM ('good', 'bad', 'ugly')`,
    'CREATE TABLE hero (id SERIAL PRIMARY KEY, mood mood)',
    `INSERT INTO hero (mood) VALUES ('good'), ('bad')`,
  )
  const steps = await database.lead(
    hero(() => ({ mood: DataTypes.ENUM('good', 'bad') })),
    { cast: ['hero.mood'] },
  )
  assert.equal(
    steps.at(-1)?.advice?.at(-1),
    'No column has the type mood then. --drop "enum mood" deletes it afterwards.',
  )
  await database.lead(
    hero(() => ({ mood: DataTypes.ENUM('good', 'bad') })),
    { drop: ['enum mood'] },
  )
  assert.deepEqual(await database.rows(`SELECT typname FROM pg_type WHERE typname = 'mood'`), [])
  assert.deepEqual(await database.rows('SELECT mood::text FROM hero ORDER BY id'), [{ mood: 'good' }, { mood: 'bad' }])
  const long = 'a_name_that_makes_the_name_of_the_type_as_long_as_names_may_be'
  const state = (values: readonly string[]) =>
    hero(() => ({ mood: DataTypes.ENUM('good', 'bad'), [long]: DataTypes.ENUM(...values) }))
  await database.lead(state(['a', 'b', 'c']))
  await database.lead(state(['a', 'b']), { cast: [`hero.${long}`] })
})

test('PostgreSQL: indexes and keys of a partitioned table are made without CONCURRENTLY', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.run(
    'CREATE TABLE team (id SERIAL PRIMARY KEY)',
    'CREATE TABLE hero (id INTEGER NOT NULL, team_id INTEGER, PRIMARY KEY (id)) PARTITION BY RANGE (id)',
    'CREATE TABLE hero_1 PARTITION OF hero FOR VALUES FROM (0) TO (1000)',
    'INSERT INTO team VALUES (1)',
    'INSERT INTO hero VALUES (1, 1)',
  )
  await database.lead((define) => {
    define('team', { id: id() })
    define(
      'hero',
      {
        id: { type: DataTypes.INTEGER, primaryKey: true },
        team_id: { type: DataTypes.INTEGER, references: { model: 'team', key: 'id' } },
      },
      { indexes: [{ fields: ['team_id'] }] },
    )
  })
})

test('PostgreSQL: a table whose key is a moment has its rows filled in one statement', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  const models =
    (columns: ModelAttributes): Models =>
    (define) =>
      void define('tick', { at: { type: DataTypes.DATE, primaryKey: true }, ...columns })
  await database.sync(models({}))
  await database.run('INSERT INTO tick VALUES (now())')
  await database.lead(models({ name: { ...text(), allowNull: false } }), { backfill: [`tick.name='x'`] })
})

test('PostgreSQL: the two spellings of the time are one default', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.run('CREATE TABLE hero (id SERIAL PRIMARY KEY, made TIMESTAMPTZ DEFAULT CURRENT_TIMESTAMP)')
  for (const defaultValue of [literal('now()'), literal('CURRENT_TIMESTAMP'), DataTypes.NOW])
    await database.assertSame(hero(() => ({ made: { type: DataTypes.DATE, defaultValue } })))
})

test('PostgreSQL: a domain is the type whose values it limits, and its NOT NULL stays when it goes', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  const models = (type: () => typeof DataTypes.INTEGER | typeof DataTypes.BIGINT) =>
    hero(() => ({ name: text(), age: { type: type(), allowNull: false } }))
  await database.run(
    'CREATE DOMAIN positive AS INTEGER NOT NULL CHECK (VALUE > 0)',
    'CREATE DOMAIN short AS VARCHAR(50)',
    'CREATE TABLE hero (id SERIAL PRIMARY KEY, name short, age positive)',
  )
  await database.start(models(() => DataTypes.INTEGER))
  await database.assertSame(models(() => DataTypes.INTEGER))
  await database.assertSame(hero(() => ({ name: text(), age: DataTypes.INTEGER })))
  await database.lead(
    models(() => DataTypes.BIGINT),
    { cast: ['hero.age'] },
  )
  await database.start(models(() => DataTypes.BIGINT))
})

test('PostgreSQL: a default that only the database has gets the new type of its column', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  await database.run(
    `CREATE TYPE mood AS ENUM ('new', 'old')`,
    `CREATE TABLE hero (id SERIAL PRIMARY KEY, age VARCHAR(5) DEFAULT '5', state mood DEFAULT 'old', name VARCHAR(20) DEFAULT 'x')`,
  )
  await database.lead(
    hero(() => ({ age: DataTypes.INTEGER, state: DataTypes.STRING(10), name: text() })),
    { cast: ['hero.age', 'hero.state'] },
  )
  await database.run('INSERT INTO hero DEFAULT VALUES')
  assert.deepEqual(await database.rows('SELECT age, state, name FROM hero'), [{ age: 5, state: 'old', name: 'x' }])
})

for (const kind of migratedDatabases.filter(({ kind }) => kind !== 'sqlite'))
  test(`${kind.name}: an enum keeps the value that is the default in the database`, async (t) => {
    const database = await led(t, kind)
    const models = (values: readonly string[], options: { readonly defaultValue?: string } = {}) =>
      hero(() => ({ state: { type: DataTypes.ENUM(...values), ...options } }))
    await database.sync(models(['new', `it's`, 'old'], { defaultValue: `it's` }))
    await database.lead(models(['new', `it's`]))
    assert.match(
      await database.refusal(models(['new'])),
      /^hero\.state: its default it's is none of the new values\. .*--drop hero\.state\.default/,
    )
    const drops = await database.plan(models(['new', `it's`]), { drop: ['hero.state.default'] })
    await database.apply(drops)
    await database.lead(models(['new']))
  })

test('PostgreSQL: @Renamed() of a model in a schema leaves a table of the same name in another schema alone', async (t) => {
  const database = await led(t, postgres ?? assert.fail('There is no PostgreSQL.'))
  const models: Models = (define) => {
    const model = define('hero', { id: id(), years: DataTypes.INTEGER }, { schema: 'app' })
    Renamed('age')(model.prototype, 'years')
  }
  await database.run(
    'CREATE SCHEMA app',
    'CREATE TABLE hero (id SERIAL PRIMARY KEY, age INTEGER)',
    'CREATE TABLE app.hero (id SERIAL PRIMARY KEY, age INTEGER)',
    'INSERT INTO app.hero (age) VALUES (7)',
  )
  assert.deepEqual(linesOf(await database.lead(models)), ['app.hero: rename column age to years | at once'])
  assert.deepEqual(await database.rows('SELECT age FROM public.hero'), [])
  assert.deepEqual(await database.rows('SELECT years FROM app.hero'), [{ years: 7 }])
})

const sqlite = migratedDatabases.find(({ kind }) => kind === 'sqlite')

test('SQLite: what people wrote into a table remains when it is made again', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  await database.run(
    `CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(50) CHECK (name <> 'nobody'), -- the name, and ( more
       age INTEGER, twice INTEGER GENERATED ALWAYS AS (age * 2) VIRTUAL, CONSTRAINT adult CHECK (age > 17))`,
    'CREATE TABLE log (text TEXT)',
    'CREATE INDEX older ON hero (age) WHERE age > 20',
    'CREATE VIEW names AS SELECT name FROM hero',
    `CREATE TRIGGER added AFTER INSERT ON hero BEGIN INSERT INTO log VALUES (new.name); END`,
    `INSERT INTO hero (name, age) VALUES ('Robin', 18), ('Hawk', 30), ('last', 40)`,
    `DELETE FROM hero WHERE name = 'last'`,
  )
  await database.lead(hero(() => ({ name: { ...text(), allowNull: false }, age: DataTypes.INTEGER })))
  await assert.rejects(database.run(`INSERT INTO hero (name, age) VALUES ('nobody', 20)`))
  await assert.rejects(database.run(`INSERT INTO hero (name, age) VALUES ('child', 7)`))
  await assert.rejects(database.run(`INSERT INTO hero (age) VALUES (20)`))
  await database.run(`INSERT INTO hero (name, age) VALUES ('new', 20)`)
  assert.deepEqual(await database.rows('SELECT * FROM hero WHERE id > 1'), [
    { id: 2, name: 'Hawk', age: 30, twice: 60 },
    { id: 4, name: 'new', age: 20, twice: 40 },
  ])
  assert.deepEqual(await database.rows('SELECT count(*) AS count FROM names'), [{ count: 3 }])
  assert.deepEqual(
    await database.rows('SELECT text FROM log'),
    ['Robin', 'Hawk', 'last', 'new'].map((text) => ({ text })),
  )
  assert.deepEqual(await database.rows(`SELECT name FROM sqlite_master WHERE name = 'older'`), [{ name: 'older' }])
})

test('SQLite: rows that refer to a table remain when it is made again', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  const models =
    (allowNull: boolean): Models =>
    (define) => {
      define('team', { id: id(), name: { ...text(), allowNull } })
      define('hero', {
        id: id(),
        team_id: { type: DataTypes.INTEGER, references: { model: 'team', key: 'id' }, onDelete: 'CASCADE' },
      })
    }
  await database.sync(models(true))
  await database.run(`INSERT INTO team (name) VALUES ('Hawks')`, 'INSERT INTO hero (team_id) VALUES (1)')
  await database.lead(models(false))
  assert.deepEqual(await database.rows('SELECT * FROM hero'), [{ id: 1, team_id: 1 }])
  await database.run('DELETE FROM team')
  assert.deepEqual(await database.rows('SELECT * FROM hero'), [])
})

test('SQLite: a table that is made again gets each new index once', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  await database.sync(plain)
  await database.run(HEROES)
  const models = hero(
    () => ({ name: text(), power: { ...text(), allowNull: false }, due: DataTypes.DATE }),
    () => ({
      indexes: [
        { fields: ['due'], name: 'hero_due' },
        { fields: ['name'], unique: true, name: 'hero_name' },
      ],
    }),
  )
  await database.lead(models, { backfill: [`hero.power='none'`] })
  await assert.rejects(database.run(`INSERT INTO hero (name, power) VALUES ('Robin', 'x')`))
})

/** A column with the name of its table. */
const NAMED_AS_TABLE = `CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT, hero TEXT, age INTEGER CHECK (age <> 3),
  state TEXT CHECK (state IN ('new', 'hero')), CHECK (hero <> 'x' OR age > 4))`

test('PostgreSQL: a table is not dropped while a view, a function or a policy of another table reads it', async (t) => {
  const database = await led(t, migratedDatabases.find(({ kind }) => kind === 'postgres') ?? assert.fail())
  await database.sync((define) => {
    define('hero', { id: id(), name: text() })
    define('cape', { id: id(), color: text() })
  })
  await database.run(
    'CREATE VIEW colors AS SELECT color FROM cape',
    'CREATE MATERIALIZED VIEW capes AS SELECT count(*) AS number FROM cape',
    'CREATE FUNCTION any_cape() RETURNS bigint LANGUAGE sql BEGIN ATOMIC SELECT count(*) FROM cape; END',
    'CREATE POLICY caped ON hero USING (EXISTS (SELECT 1 FROM cape WHERE cape.color = hero.name))',
    'CREATE POLICY own ON cape USING (color IS NOT NULL)',
  )
  assert.equal(
    await database.refusal(plain, { drop: ['cape'] }),
    '--drop cape: function any_cape(), materialized view capes, policy caped on table hero, view colors would fail without it: PostgreSQL does not drop it meanwhile. Drop them first.',
  )
  await database.run(
    'DROP VIEW colors',
    'DROP MATERIALIZED VIEW capes',
    'DROP FUNCTION any_cape()',
    'DROP POLICY caped ON hero',
  )
  await database.lead(plain, { drop: ['cape'] })
})

test('PostgreSQL: a column to which a foreign key refers is dropped with that', async (t) => {
  const database = await led(t, migratedDatabases.find(({ kind }) => kind === 'postgres') ?? assert.fail())
  await database.sync(hero(() => ({ name: { ...text(), unique: true } })))
  await database.run('CREATE TABLE cape (owner VARCHAR(50) CONSTRAINT owned REFERENCES hero (name))')
  assert.equal(
    await database.refusal(plainKey, { drop: ['hero.name'] }),
    '--drop hero.name: the foreign key owner of cape refers to it. Drop that, too: --drop "foreign key cape.owned"',
  )
  await database.lead(plainKey, { drop: ['hero.name', 'foreign key cape.owned'] })
})

test('SQLite: a table is not dropped while a view or a trigger reads it', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  await database.sync((define) => {
    define('hero', { id: id(), name: text() })
    define('cape', { id: id(), color: text() })
  })
  await database.run('CREATE VIEW colors AS SELECT color FROM cape')
  assert.match(
    await database.refusal(plain, { drop: ['cape'] }),
    /^SELECT of colors: no such table: main\.cape, after this migration\. Change the triggers and views first\.$/,
  )
})

test('SQLite: a column that is dropped takes with it what names it, and nothing else', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  await database.run(
    NAMED_AS_TABLE,
    'CREATE UNIQUE INDEX hero_age ON hero (age)',
    `CREATE INDEX hero_text ON hero (age) WHERE state <> 'hero'`,
    'CREATE INDEX hero_of ON hero (lower(hero), age)',
    'CREATE VIEW ages AS SELECT hero.age FROM hero',
    `CREATE TRIGGER grown AFTER INSERT ON hero WHEN NEW.age > 100 BEGIN UPDATE hero SET state = 'hero' WHERE id = NEW.id; END`,
  )
  const models = hero(() => ({ age: DataTypes.INTEGER, state: DataTypes.TEXT }))
  const steps = await database.lead(models, { drop: ['hero.hero'] })
  assert.deepEqual(
    steps.map(({ what }) => what),
    ["make the table again: drop column hero, drop index hero_of, drop CHECK (hero <> 'x' OR age > 4)"],
  )
  await database.run(`INSERT INTO hero (age, state) VALUES (101, 'new')`)
  for (const values of [`(101, 'new')`, `(3, 'new')`, `(4, 'old')`])
    await assert.rejects(database.run(`INSERT INTO hero (age, state) VALUES ${values}`), values)
  const indexes = await database.rows(`SELECT name FROM sqlite_master WHERE type = 'index' AND tbl_name = 'hero'`)
  assert.deepEqual(indexes, [{ name: 'hero_age' }, { name: 'hero_text' }])
})

test('SQLite: a column is not dropped while a trigger, a view or a key needs it', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  await database.run(
    'CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT UNIQUE, age INTEGER, twice INTEGER AS (age * 2))',
    'CREATE TABLE cape (owner TEXT REFERENCES hero (name))',
    'CREATE VIEW ages AS SELECT age FROM hero',
    'CREATE TRIGGER added AFTER INSERT ON cape BEGIN UPDATE hero SET age = age + 1; END',
  )
  const models = hero(() => ({}))
  assert.equal(
    await database.refusal(models, { drop: ['hero.age', 'hero.name'] }),
    '--drop hero.name, hero.age: column twice, table cape, view ages, trigger added would fail without it. Change that first.',
  )
})

test('SQLite: a column is not dropped while a trigger needs the number of columns', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  await database.run(
    'CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT, age INTEGER)',
    'CREATE TABLE log (hero INTEGER, age INTEGER)',
    'CREATE TRIGGER noted AFTER INSERT ON hero BEGIN INSERT INTO log SELECT * FROM hero; END',
  )
  assert.equal(
    await database.refusal(
      hero(() => ({})),
      { drop: ['hero.age'] },
    ),
    'INSERT of hero: table log has 2 columns but 1 values were supplied, after this migration. Change the triggers and views first.',
  )
})

test('SQLite: a database with a table of full texts is planned', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  await database.sync(plain)
  await database.run('CREATE VIRTUAL TABLE words USING fts5 (text)', HEROES)
  await database.lead(
    hero(() => ({})),
    { drop: ['hero.name'] },
  )
})

test('SQLite: a step that it refuses is refused before it is written', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  await database.run('CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT, age INTEGER, CHECK (hero.id < 1000))')
  assert.match(
    await database.refusal(
      hero(() => ({})),
      { drop: ['hero.age'] },
    ),
    /^SQLite refuses a step: .*no such column: hero\.id\. Write this migration by hand:\nCREATE TABLE hero_new/,
  )
})

for (const kind of migratedDatabases.filter((one) => one.kind === 'mariadb'))
  test(`${kind.name}: what people wrote into a column remains when it is changed`, async (t) => {
    const database = await led(t, kind)
    await database.run(
      `CREATE TABLE hero (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50), age INT CHECK (age > 0), power INT INVISIBLE,
         made DATETIME NULL DEFAULT NULL, changed DATETIME(3) NULL DEFAULT CURRENT_TIMESTAMP(3) ON UPDATE CURRENT_TIMESTAMP(3))`,
      `INSERT INTO hero (age, changed) VALUES (1, '2020-01-01')`,
    )
    const required = (type: typeof DataTypes.INTEGER | typeof DataTypes.BIGINT) => ({ type, allowNull: false })
    const now = literal('CURRENT_TIMESTAMP(6)')
    await database.lead(
      hero(() => ({
        name: { ...text(), allowNull: false },
        age: required(DataTypes.BIGINT),
        power: DataTypes.BIGINT,
        changed: { type: DataTypes.DATE(6), allowNull: false, defaultValue: now },
      })),
      { backfill: [`hero.name='none'`] },
    )
    assert.deepEqual(await database.rows(`SELECT changed < '2021-01-01' AS old FROM hero`), [{ old: 1 }])
    await assert.rejects(database.run(`INSERT INTO hero (name, age, power) VALUES ('Robin', 0, 1)`), /CONSTRAINT/)
    await database.run(`UPDATE hero SET name = 'Robin'`)
    assert.deepEqual(await database.rows(`SELECT changed > '2021-01-01' AS new FROM hero`), [{ new: 1 }])
    const [row = {}] = await database.rows('SELECT * FROM hero')
    assert.deepEqual(Object.keys(row), ['id', 'name', 'age', 'made', 'changed'])
    assert.equal(
      await database.refusal(
        hero(() => ({ power: required(DataTypes.BIGINT) })),
        { backfill: ['hero.power=3'] },
      ),
      'hero.power is INVISIBLE, and cannot be NOT NULL without a default. Make it visible first.',
    )
  })

test('SQLite: values of defaults, and the numbers of rows, remain when a table is made again', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  await database.run(
    `CREATE TABLE hero (id VARCHAR(9) PRIMARY KEY, data BLOB DEFAULT x'00ff'NOT NULL, power REAL DEFAULT 1.5e+3, low INT DEFAULT -7 CHECK (low < 0),
       age INTEGER)`,
    'CREATE TABLE hero_new (id INTEGER)',
    `INSERT INTO hero (rowid, id) VALUES (5, 'a'), (9, 'b')`,
  )
  const models: Models = (define) => void define('hero', { id: { type: DataTypes.STRING(9), primaryKey: true } })
  await database.lead(models, { drop: ['hero.age'] })
  await database.run(`INSERT INTO hero (id) VALUES ('c')`)
  assert.deepEqual(await database.rows('SELECT rowid, hex(data) AS data, power, low FROM hero'), [
    { rowid: 5, data: '00FF', power: 1500, low: -7 },
    { rowid: 9, data: '00FF', power: 1500, low: -7 },
    { rowid: 10, data: '00FF', power: 1500, low: -7 },
  ])
})

test('SQLite: an index of an expression has no difference once it is there', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  await database.sync(plain)
  await database.lead(
    hero(
      () => ({ name: text() }),
      () => ({ indexes: [{ fields: [fn('lower', col('name')), literal('(id + 1) * (id + 2)')], name: 'hero_lower' }] }),
    ),
  )
})

test('SQLite: a column that gets another type keeps its collation, unless the model states another one', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  await database.run(
    'CREATE TABLE hero (id INTEGER PRIMARY KEY AUTOINCREMENT, name VARCHAR(50) NOT NULL COLLATE NOCASE UNIQUE, power VARCHAR(50) COLLATE NOCASE)',
    `INSERT INTO hero (name, power) VALUES ('Robin', 'x')`,
  )
  const power = { type: 'VARCHAR(70) COLLATE RTRIM', allowNull: true }
  await database.lead(hero(() => ({ name: { ...text(70), allowNull: false, unique: true }, power })))
  await assert.rejects(database.run(`INSERT INTO hero (name) VALUES ('ROBIN')`), /Validation error|UNIQUE/)
  assert.deepEqual(await database.rows(`SELECT power = 'x ' AS spaces, power = 'X' AS letters FROM hero`), [
    { spaces: 1, letters: 0 },
  ])
})

for (const kind of migratedDatabases.filter(({ kind }) => kind === 'mariadb'))
  test(`${kind.name}: a foreign key keeps an index when the one that serves it is dropped or replaced`, async (t) => {
    const database = await led(t, kind)
    const models =
      (columns: readonly string[], fields: readonly string[] = []): Models =>
      (define) => {
        define('team', { id: id() })
        const references = { type: DataTypes.INTEGER, references: { model: 'team', key: 'id' } }
        define(
          'hero',
          {
            id: id(),
            team_id: references,
            ...Object.fromEntries(columns.map((name) => [name, { type: DataTypes.INTEGER }])),
          },
          { indexes: fields.length === 0 ? [] : [{ fields: [...fields], name: 'hero_index' }] },
        )
      }
    await database.sync(models(['age', 'size'], ['team_id', 'age']))
    await database.lead(models(['age', 'size'], ['age']))
    await database.lead(models(['age', 'size'], ['age', 'size']))
    await database.run(
      'CREATE UNIQUE INDEX both_columns ON hero (team_id, size)',
      'DROP INDEX hero_team_id ON hero',
      'INSERT INTO team VALUES (1)',
      'INSERT INTO hero (team_id, size) VALUES (1, 1), (1, 2)',
    )
    await database.lead(models(['age']), { drop: ['hero.size', 'hero.hero_index'] })
    await assert.rejects(database.run('DROP INDEX hero_team_id ON hero'), /foreign key/)
  })

for (const kind of migratedDatabases.filter(({ kind }) => kind === 'mariadb')) {
  type KeyType = typeof DataTypes.INTEGER | typeof DataTypes.BIGINT
  const teams =
    (type: KeyType, further: Models = () => {}, key = 'team_id', onDelete = 'SET NULL'): Models =>
    (define) => {
      const team = { type, references: { model: 'team', key: 'id' } }
      define('team', { id: { ...id(), type }, parent: { ...team, onDelete } })
      define('hero', { id: id(), [key]: { ...team, onDelete: 'CASCADE' } })
      further(define)
    }
  const ROWS = ['INSERT INTO team VALUES (1, NULL), (2, 1)', 'INSERT INTO hero (id, team_id) VALUES (1, 1), (2, 2)']

  test(`${kind.name}: a key, and the foreign keys that refer to it, get another type`, async (t) => {
    const database = await led(t, kind)
    await database.sync(teams(DataTypes.INTEGER))
    await database.run(...ROWS)
    const cape: Models = (define) =>
      void define('cape', { id: id(), owner: { type: DataTypes.BIGINT, references: { model: 'team', key: 'id' } } })
    const steps = await database.lead(teams(DataTypes.BIGINT, cape, 'squad_id', 'CASCADE'), {
      rename: ['hero.team_id:squad_id'],
    })
    assert.match(
      linesOf(steps).join(),
      /squad_id -> team again \| rewrites 2 rows, checks them, nobody writes meanwhile/,
    )
    await database.run('INSERT INTO team VALUES (5000000000, NULL)', 'INSERT INTO hero VALUES (3, 5000000000)')
    for (const values of ['hero VALUES (4, 3)', 'team VALUES (7, 8)', 'cape VALUES (1, 3)'])
      await assert.rejects(database.run(`INSERT INTO ${values}`), /foreign key/i)
    await database.run('DELETE FROM team WHERE id = 1')
    assert.deepEqual(await database.rows('SELECT id FROM hero'), [{ id: 3 }])
    assert.deepEqual(await database.rows('SELECT count(*) = 1 AS isOne FROM team'), [{ isOne: 1 }])
  })

  test(`${kind.name}: a foreign key whose columns get another type counts the rows that refer to no row`, async (t) => {
    const database = await led(t, kind)
    await database.sync(teams(DataTypes.INTEGER))
    await database.run(...ROWS)
    // In one statement: a setting is that of a connection.
    await database.run(
      'CREATE PROCEDURE add_orphan() BEGIN SET foreign_key_checks = 0; INSERT INTO hero VALUES (3, 9); SET foreign_key_checks = 1; END',
      'CALL add_orphan()',
    )
    assert.match(await database.refusal(teams(DataTypes.BIGINT)), /^hero \(team_id\) .* 1 row refers to no row of team/)
  })

  test(`${kind.name}: a key does not change its type alone`, async (t) => {
    const database = await led(t, kind)
    await database.sync(teams(DataTypes.INTEGER))
    await database.run('CREATE TABLE log (team INT, CONSTRAINT log_team FOREIGN KEY (team) REFERENCES team (id))')
    assert.equal(
      await database.refusal(teams(DataTypes.BIGINT)),
      'log.team (INT(11)) would not have the type of team.id (BIGINT(20)), to which its foreign key log_team refers. Change both in the models, or drop that key first: ALTER TABLE log DROP FOREIGN KEY log_team',
    )
  })
}

for (const kind of migratedDatabases.filter(({ kind }) => kind === 'mariadb')) {
  const COLUMNS = 'id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(50)'
  const ways = {
    'with full texts': `CREATE TABLE hero (${COLUMNS}, story TEXT, FULLTEXT KEY (story))`,
    'with computed columns': `CREATE TABLE hero (${COLUMNS}, twice INT AS (length(name) * 2) VIRTUAL, lower VARCHAR(50) AS (lower(name)) STORED, KEY (twice))`,
    'of another engine': `CREATE TABLE hero (${COLUMNS}) ENGINE = Aria`,
  }
  for (const [which, create] of Object.entries(ways))
    test(`${kind.name}: a table ${which} is changed as far as the server can, and the notes say how`, async (t) => {
      const database = await led(t, kind)
      await database.run(create, HEROES)
      const steps = await database.lead(
        hero(
          () => ({ name: { ...text(), allowNull: false }, power: text() }),
          () => ({ indexes: [{ fields: ['power'] }] }),
        ),
        { backfill: [`hero.name='nobody'`] },
      )
      assert.match(linesOf(steps).find((line) => line.includes('change name')) ?? '', /nobody writes meanwhile$/)
      assert.deepEqual(await database.rows('SELECT name FROM hero WHERE id = 3'), [{ name: 'nobody' }])
    })

  test(`${kind.name}: a step that the server refuses is refused before it is written`, async (t) => {
    const database = await led(t, kind)
    await database.run(`CREATE TABLE hero (${COLUMNS}) WITH SYSTEM VERSIONING`)
    assert.match(
      await database.refusal(hero(() => ({ name: text(), power: text() }))),
      /^hero: the server refuses a step: Not allowed for system-versioned .* Write this migration by hand:\nALTER TABLE hero ADD COLUMN power/,
    )
  })
}

for (const kind of migratedDatabases.filter(({ kind }) => kind === 'mariadb')) {
  const states = (...values: string[]) => ({ state: DataTypes.ENUM(...values) })
  const before = () => ({ name: text(), ...states('new', 'old') })
  const cast = [`hero.state=case when state = 'old' then 'new' else state end`]
  const required = () => ({ ...text(), allowNull: false })
  const cases = {
    'becomes NOT NULL': {
      after: () => ({ ...before(), name: required() }),
      choices: { backfill: [`hero.name='none'`] },
    },
    'is new': { after: () => ({ ...before(), power: required() }), choices: { backfill: [`hero.power='none'`] } },
    'loses a value': { after: () => ({ ...before(), ...states('new') }), choices: { cast } },
  }
  for (const [what, { after, choices }] of Object.entries(cases))
    test(`${kind.name}: rows that come while a column ${what} get the value, too`, async (t) => {
      const database = await led(t, kind)
      await database.lead(hero(before))
      const row = `INSERT INTO hero (state) VALUES ('old')`
      // A program that still runs adds a row after each step, until there are four.
      for (const event of ['INSERT', 'UPDATE'])
        await database.run(
          `CREATE TRIGGER late_${event} AFTER ${event} ON migration_step FOR EACH ROW
           BEGIN IF NEW.state = 'done' AND (SELECT count(*) FROM hero) < 4 THEN ${row}; END IF; END`,
        )
      await database.run(row)
      await database.lead(hero(after), choices)
      assert.deepEqual(await database.rows('SELECT count(*) = 4 AS isFour FROM hero'), [{ isFour: 1 }])
    })
}

for (const kind of migratedDatabases.filter(({ kind }) => kind === 'mariadb'))
  test(`${kind.name}: a column that gets another type, and loses its default, keeps its collation`, async (t) => {
    const database = await led(t, kind)
    await database.run(
      `CREATE TABLE hero (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(20) COLLATE utf8mb4_bin UNIQUE DEFAULT 'x')`,
      `INSERT INTO hero (name) VALUES ('Robin')`,
    )
    await database.lead(
      hero(() => ({ name: { ...text(), unique: true } })),
      { drop: ['hero.name.default'] },
    )
    await database.run(`INSERT INTO hero (name) VALUES ('ROBIN'), (NULL)`)
    assert.deepEqual(await database.rows(`SELECT id FROM hero WHERE name = 'robin' OR name = 'x'`), [])
  })

for (const kind of migratedDatabases.filter(({ kind }) => kind !== 'postgres'))
  for (const storage of ['STORED', 'VIRTUAL'])
    test(`${kind.name}: a ${storage} column that gets another type is computed as before`, async (t) => {
      const database = await led(t, kind)
      const key = kind.kind === 'sqlite' ? 'INTEGER PRIMARY KEY AUTOINCREMENT' : 'INT AUTO_INCREMENT PRIMARY KEY'
      await database.run(
        `CREATE TABLE hero (id ${key}, name VARCHAR(50), low VARCHAR(50) GENERATED ALWAYS AS (lower(name)) ${storage})`,
        `INSERT INTO hero (name) VALUES ('Robin')`,
      )
      await database.lead(hero(() => ({ name: text(), low: text(70) })))
      await database.run(`INSERT INTO hero (name) VALUES ('Hawk')`)
      assert.deepEqual(await database.rows('SELECT low FROM hero ORDER BY id'), [{ low: 'robin' }, { low: 'hawk' }])
    })

test('SQLite: a text fits into a number that is the same, however many zeros it ends with', async (t) => {
  const database = await led(t, sqlite ?? assert.fail('There is no SQLite.'))
  const models = hero(() => ({ name: DataTypes.DECIMAL(8, 3) }))
  await database.sync(plain)
  await database.run(`INSERT INTO hero (name) VALUES ('0.0'), ('10.00'), ('1.50'), ('100'), ('-2.5'), ('x'), ('1.2.0')`)
  assert.match(await database.refusal(models), /2 rows do not fit/)
  await database.run(`UPDATE hero SET name = '1.000000000000000001' WHERE name IN ('x', '1.2.0')`)
  assert.match(await database.refusal(models), /2 rows do not fit/)
  await database.run('DELETE FROM hero WHERE length(name) > 9')
  await database.lead(models, { cast: ['hero.name'] })
  assert.deepEqual(
    await database.rows('SELECT name, typeof(name) AS type FROM hero'),
    [0, 10, 1.5, 100, -2.5].map((name) => ({ name, type: Number.isInteger(name) ? 'integer' : 'real' })),
  )
})

for (const kind of migratedDatabases.filter(({ kind }) => kind === 'mariadb')) {
  const capes = { table: 'cape', columns: () => ({ id: id(), color: text(), hero: text() }) }
  const both =
    (columns: () => ModelAttributes, cape: { table: string; columns: () => ModelAttributes } = capes): Models =>
    (define) => {
      hero(columns)(define)
      define(cape.table, cape.columns())
    }
  const withName = () => ({ name: text(), power: text() })
  const titled = both(() => ({ title: text(), power: text() }))
  const unnamed = both(() => ({ power: text() }))

  test(`${kind.name}: a column is not renamed, nor dropped, while a view or a trigger names it`, async (t) => {
    const database = await led(t, kind)
    await database.sync(both(withName))
    const readers = {
      'trigger upper_name of hero': 'CREATE TRIGGER upper_name BEFORE INSERT ON hero FOR EACH ROW SET NEW.name = 1',
      'trigger old_name of hero':
        'CREATE TRIGGER old_name BEFORE UPDATE ON hero FOR EACH ROW BEGIN IF old . `NAME` IS NULL THEN SET NEW.power = 1; END IF; END',
      'trigger added of cape':
        'CREATE TRIGGER added AFTER INSERT ON cape FOR EACH ROW INSERT INTO `hero` (power, name) VALUES (1, NEW.color)',
      'view all_of_it': 'CREATE VIEW all_of_it AS SELECT * FROM hero',
      'view lengths':
        'CREATE VIEW lengths AS SELECT length(h.name) AS size FROM cape c JOIN hero h ON h.power = c.color',
    }
    for (const [display, create] of Object.entries(readers)) {
      await database.run(create)
      assert.equal(
        await database.refusal(titled, { rename: ['hero.name:title'] }),
        `hero.name is renamed: ${display} would fail, as the server does not rename it there. Drop it first, and create it again once hero.name has its new name.`,
      )
      assert.equal(
        await database.refusal(unnamed, { drop: ['hero.name'] }),
        `--drop hero.name: ${display} would fail without it. Drop it first.`,
      )
      await database.run(`DROP ${display.split(' of ')[0]}`)
    }
    await database.run(
      ...Object.values(readers),
      `SET STATEMENT sql_mode = 'ANSI_QUOTES' FOR EXECUTE IMMEDIATE
         'CREATE TRIGGER quoted BEFORE INSERT ON hero FOR EACH ROW SET NEW."name" = 1'`,
    )
    assert.equal(
      await database.refusal(unnamed, { drop: ['hero.name'] }),
      '--drop hero.name: trigger added of cape, view all_of_it, view lengths, trigger old_name of hero, trigger quoted of hero, trigger upper_name of hero would fail without it. Drop them first.',
    )
  })

  test(`${kind.name}: views and triggers that name another column do not keep one`, async (t) => {
    const other = await led(t, kind)
    await other.sync(both(withName))
    const database = await led(t, kind)
    await database.sync(both(withName))
    const elsewhere = new URL(other.url).pathname.slice(1)
    await other.run('CREATE VIEW names AS SELECT name FROM hero')
    await database.run(
      'CREATE TABLE log (name VARCHAR(50))',
      `CREATE VIEW powers AS SELECT power, 'name' AS text, count(*) AS name FROM hero /* name */ GROUP BY power`,
      'CREATE VIEW logged AS SELECT l.name FROM log l',
      `CREATE VIEW others AS SELECT name FROM \`${elsewhere}\`.hero`,
      `CREATE TRIGGER noted AFTER INSERT ON hero FOR EACH ROW INSERT INTO log (name) VALUES (concat(NEW.power, "name")) -- NEW.name`,
      `CREATE TRIGGER logged BEFORE INSERT ON log FOR EACH ROW SET NEW.name = (SELECT max(concat(power, "name")) FROM hero)`,
    )
    await database.lead(titled, { rename: ['hero.name:title'] })
    await database.lead(unnamed, { drop: ['hero.title'] })
    await database.run(`INSERT INTO hero (power) VALUES ('flight')`)
    for (const view of ['powers', 'logged', 'others']) await database.rows(`SELECT * FROM ${view}`)
  })

  test(`${kind.name}: a table is not renamed, nor dropped, while a view or a trigger of another one names it`, async (t) => {
    const database = await led(t, kind)
    await database.sync(both(withName))
    const renamed = both(withName, { ...capes, table: 'cloak' })
    await database.run(
      'CREATE TRIGGER own BEFORE INSERT ON cape FOR EACH ROW SET NEW.color = upper(NEW.color)',
      'CREATE VIEW heroes AS SELECT h.name AS cape FROM hero h',
      'CREATE VIEW colors AS SELECT count(*) FROM cape',
      'CREATE TRIGGER added AFTER INSERT ON hero FOR EACH ROW BEGIN IF NEW.power IS NULL THEN UPDATE cape SET color = 1; END IF; END',
    )
    assert.equal(
      await database.refusal(renamed, { rename: ['cape:cloak'] }),
      'cape is renamed: trigger added of hero, view colors would fail, as the server does not rename it there. Drop them first, and create them again once cape has its new name.',
    )
    assert.equal(
      await database.refusal(hero(withName), { drop: ['cape'] }),
      '--drop cape: trigger added of hero, view colors would fail without it. Drop them first.',
    )
    await database.run('DROP TRIGGER added', 'DROP VIEW colors')
    await database.lead(renamed, { rename: ['cape:cloak'] })
    await database.run(`INSERT INTO cloak (color) VALUES ('red')`)
    await database.lead(hero(withName), { drop: ['cloak'] })
  })
}

for (const kind of migratedDatabases.filter(({ kind }) => kind === 'mariadb'))
  test(`${kind.name}: an index is not dropped, nor replaced, while a foreign key has no other one`, async (t) => {
    const database = await led(t, kind)
    const models = (fields: readonly string[], team = true): Models =>
      hero(
        () => ({
          name: text(),
          ...(team ? { team_id: { type: DataTypes.INTEGER, references: { model: 'hero', key: 'id' } } } : {}),
        }),
        () => ({ indexes: fields.map((field) => ({ fields: [field], name: `of_${field}` })) }),
      )
    await database.sync(models(['name', 'team_id']))
    await database.run(
      'CREATE TABLE cape (owner VARCHAR(50), CONSTRAINT owned FOREIGN KEY (owner) REFERENCES hero (name))',
    )
    const owned =
      'the foreign key owner -> hero of cape needs this index. Drop that first: --drop "foreign key cape.owned"'
    assert.equal(await database.refusal(models([]), { drop: ['index hero.of_name'] }), `hero.of_name: ${owned}`)
    assert.equal(
      await database.refusal(
        hero(() => ({})),
        { drop: ['hero.name'], new: [] },
      ),
      `hero.of_name: ${owned}`,
    )
    assert.match(
      await database.refusal(models([]), { drop: ['index hero.of_team_id'] }),
      /^hero\.of_team_id: the foreign key team_id -> hero of hero needs this index\. Drop that first: --drop "foreign key hero\./,
    )
    await database.run('CREATE INDEX both_columns ON hero (name, team_id)')
    await database.lead(models([]), { drop: ['index hero.of_name'] })
    await database.lead(models([]), { drop: ['index hero.both_columns', 'foreign key cape.owned'] })
  })
