// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DataTypes, type Model, type ModelStatic, QueryTypes, Sequelize } from 'sequelize'
import { type Database, select, type Session, sql, withSession } from 'sequitur'
import { type OnePath, openBoth } from '../support/both-paths.js'
import { mysqls, statements } from '../support/databases.js'

/*
 * What goes to the drivers of MySQL and MariaDB without Sequelize has the results, errors and logs that it has with it.
 */

/** For each type of column, literals of values. */
const COLUMNS: Readonly<Record<string, readonly string[]>> = {
  'TINYINT(1)': ['1', '-128'],
  'TINYINT UNSIGNED': ['255'],
  SMALLINT: ['-32768'],
  'MEDIUMINT(5) UNSIGNED ZEROFILL': ['42'],
  MEDIUMINT: ['-8388608'],
  'INT UNSIGNED ZEROFILL': ['7', '4294967295'],
  INT: ['-2147483648'],
  BIGINT: ['7', '-9223372036854775808', '9007199254740993'],
  'BIGINT UNSIGNED': ['18446744073709551615'],
  FLOAT: ['1.1', '3.4e38', '16777217'],
  DOUBLE: ['0.1', '1e300', '-0'],
  'DECIMAL(30,10)': ['1.5', '12345678901234567890.0123456789'],
  'DECIMAL(20,0)': ['5', '12345678901234567890'],
  'BIT(1)': ["b'1'", "b'0'"],
  'BIT(9)': ["b'100000001'"],
  DATE: ["'2024-02-29'", "'0099-12-31'"],
  DATETIME: ["'2024-02-29 12:34:56'", "'0050-01-01 00:00:00'"],
  'DATETIME(6)': ["'2024-02-29 12:34:56.789123'"],
  'TIMESTAMP(3)': ["'2024-02-29 12:34:56.789'"],
  'TIME(6)': ["'-838:59:59'", "'12:00:00.000001'"],
  YEAR: ['1999', '2155'],
  'CHAR(10)': ["'a  '", "'é😀'"],
  'VARCHAR(40) CHARACTER SET latin1': ["'é'"],
  'VARBINARY(10)': ["x'00ff27'"],
  'BINARY(3)': ["'a'"],
  LONGBLOB: ["x'5c00'"],
  TEXT: ["'two\\nlines'"],
  "ENUM('a', 'b')": ["'b'"],
  "SET('a', 'b')": ["'a,b'", "''"],
  JSON: [`'{"a": [1, null, "\\'"]}'`, "'[]'", "'null'"],
  POINT: ["ST_GeomFromText('POINT(1 2)')"],
  'INET6 ': ["'::1'"],
}

const names = Object.keys(COLUMNS).map((_, index) => `c${index}`)

const EVERYTHING = `CREATE TABLE everything (id INTEGER PRIMARY KEY AUTO_INCREMENT, ${Object.keys(COLUMNS)
  .map((type, index) => `c${index} ${type} NULL`)
  .join(', ')})`

const ROWS = Array.from({ length: 4 }, (_, row) => {
  const values = Object.values(COLUMNS).map((literals) => literals[row] ?? 'NULL')
  return `INSERT INTO everything (${names.join(', ')}) VALUES (${values.join(', ')})`
})

/** Of whatever type its columns are, the values are those that the driver returns. */
function modelOfEverything({ sequelize }: Database): ModelStatic<Model> {
  const attributes = Object.fromEntries(names.map((name) => [name, DataTypes.STRING]))
  const id = { type: DataTypes.INTEGER, primaryKey: true }
  return sequelize.define('Everything', { id, ...attributes }, { timestamps: false, tableName: 'everything' })
}

/** What describes a column has other methods after a call of the option typeCast. */
function withoutMethods(rowsOrColumns: unknown): unknown {
  return (rowsOrColumns as readonly object[]).map((one) =>
    Object.entries(one)
      .filter(([, value]) => typeof value !== 'function')
      .toSorted(([name], [other]) => (name < other ? -1 : 1)),
  )
}

async function readEverything({ database, log }: OnePath): Promise<unknown> {
  const model = modelOfEverything(database)
  log.length = 0
  const results = await withSession(database, async (session) => [
    (await session.all(select(model, { order: ['id'] }))).map((one) => one.get()),
    (await session.get(model, 2))?.get(),
    await session.execute(sql`SELECT * FROM everything ORDER BY id`),
    await session.execute(sql`SELECT *, ${'a'} AS a, ${1} AS one, ${2n ** 60n} AS big, ${1.5} AS half, ${true} AS yes,
      ${null} AS nothing, ${Buffer.from("'\0")} AS bytes FROM everything WHERE id > ${1} ORDER BY id`),
    await session.execute(sql`UPDATE everything SET id = id WHERE id = ${1}`),
    await model.findAll({ raw: true, where: { id: [1, 3] }, order: ['id'] }),
    (await database.sequelize.query('SELECT * FROM everything ORDER BY id')).map(withoutMethods),
    await database.sequelize.query('SELECT * FROM everything WHERE id = $1', { bind: [3], type: QueryTypes.SELECT }),
    await database.sequelize.query('UPDATE everything SET id = id'),
    await model.max('id'),
  ])
  return { results, log: statements(log).map((text) => text.replace('/* sql */ ', '')) }
}

for (const kind of mysqls) {
  test(`${kind.name}: columns of every type have the values that Sequelize reads`, async (t) => {
    const [fast, plain] = await openBoth(t, kind, [EVERYTHING, ...ROWS])
    assert.deepEqual(await readEverything(fast), await readEverything(plain))
  })

  test(`${kind.name}: a type of the program reads its columns`, async (t) => {
    const [fast, plain] = await openBoth(t, kind, [EVERYTHING, ...ROWS])
    const { sequelize } = fast.database
    const dialect = sequelize.getDialect() as 'mysql'
    interface Types {
      DECIMAL: { parse?: (field: { string(): string | null }) => unknown }
    }
    const types = (DataTypes as unknown as Record<'mysql', Types>)[dialect]
    const refresh = () =>
      (sequelize as unknown as { connectionManager: { refreshTypeParser(given: Types): void } }).connectionManager //
        .refreshTypeParser(types)
    types.DECIMAL.parse = (field) => `decimal ${field.string()}`
    refresh()
    t.after(() => {
      types.DECIMAL.parse = undefined as never
      refresh()
      delete types.DECIMAL.parse
    })
    const expected = await readEverything(plain)
    assert.match(JSON.stringify(expected), /decimal 1\.5/)
    assert.deepEqual(await readEverything(fast), expected)
  })

  test(`${kind.name}: errors have the details of Sequelize's`, async (t) => {
    const both = await openBoth(t, kind, [
      'CREATE TABLE parent (id INTEGER PRIMARY KEY AUTO_INCREMENT, name VARCHAR(5) NOT NULL, UNIQUE KEY the_name (name))',
      `CREATE TABLE child (id INTEGER PRIMARY KEY AUTO_INCREMENT, parent_id INTEGER NOT NULL, age INTEGER CHECK (age > 0),
         CONSTRAINT the_parent FOREIGN KEY (parent_id) REFERENCES parent (id))`,
      "INSERT INTO parent (id, name) VALUES (1, 'a')",
    ])
    const outcomes = []
    for (const one of both) outcomes.push(await failures(one))
    assert.deepEqual(outcomes[0], outcomes[1])
  })
}

async function failures({ database, url }: OnePath): Promise<unknown> {
  const { sequelize } = database
  const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
  const name = { type: DataTypes.STRING, unique: 'the_name' }
  const parent = sequelize.define('Parent', { id, name }, { timestamps: false, tableName: 'parent' })
  const columns = { id, parent_id: DataTypes.INTEGER, age: DataTypes.INTEGER }
  const child = sequelize.define('Child', columns, { timestamps: false, tableName: 'child' })
  const none = sequelize.define('None', { id, name: DataTypes.STRING }, { timestamps: false, tableName: 'none' })
  const insert = (session: Session, model: ModelStatic<Model>, values: object) => {
    session.add(model.build(values as never))
    return session.flush()
  }
  const works: readonly ((session: Session) => Promise<unknown>)[] = [
    (session) => insert(session, parent, { name: 'a' }),
    (session) => insert(session, parent, { id: 1, name: 'b' }),
    (session) => insert(session, parent, { name: 'too long' }),
    (session) => insert(session, parent, { name: null }),
    (session) => insert(session, child, { parent_id: 9 }),
    (session) => insert(session, child, { parent_id: 1, age: -1 }),
    (session) => insert(session, none, { name: 'a' }),
    (session) => session.get(none, 1),
    (session) => session.all(select(none, { where: { name: "o'" } })),
    () => parent.create({ name: 'a' }),
    () => child.create({ parent_id: 9 }),
    () => parent.update({ name: null as never }, { where: { id: 1 } }),
    async () => {
      await child.create({ parent_id: 1 })
      await parent.destroy({ where: { id: 1 } })
    },
    (session) => session.execute(sql`SELECT nothing`),
    (session) => session.execute(sql`SELECT ${'a'} FROM nowhere WHERE a = ${1}`),
    (session) => session.execute(sql`SELECT count(*) FROM parent a, parent b, seq_1_to_100000 c, seq_1_to_100000 d`),
    async (session) => {
      const other = new Sequelize(url.replace(/\+\w+/, ''), { logging: false })
      const lock = await other.transaction()
      try {
        await other.query('SELECT id FROM parent WHERE id = 1 FOR UPDATE', {
          transaction: lock,
          type: QueryTypes.SELECT,
        })
        await session.execute(sql`UPDATE parent SET name = 'c' WHERE id = ${1}`)
      } finally {
        await lock.rollback()
        await other.close()
      }
    },
    () => sequelize.query('SELEKT'),
  ]
  const outcomes = []
  for (const work of works)
    outcomes.push(
      await withSession(database, work).then(
        () => 'committed',
        (error: unknown) => described(error),
      ),
    )
  assert.ok(!outcomes.includes('committed'), JSON.stringify(outcomes))
  return outcomes
}

function described(error: unknown): unknown {
  const { name, message, errors, fields, parameters, sql, original, table, index, value } = error as Record<
    string,
    unknown
  >
  const { code, errno, sqlState } = (original ?? {}) as Record<string, unknown>
  const items = (errors as readonly Record<string, unknown>[] | undefined)?.map(({ message, path, type, value }) => ({
    message,
    path,
    type,
    value,
  }))
  const withoutOwn = (text: unknown) =>
    String(text)
      .replace(/^\(conn:\d+/, '(conn')
      .replace('/* sql */ ', '')
  const texts = [withoutOwn(message), withoutOwn(sql)]
  return { name, texts, items, fields, parameters, code, errno, sqlState, table, index, value }
}
