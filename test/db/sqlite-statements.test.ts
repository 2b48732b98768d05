// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { DataTypes, Op, QueryTypes } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Base, type Database, select, type Session, sql, withSession } from 'sequitur'
import { rawSql } from '../../src/db/statements/statement.js'
import { databaseApp, sqliteFile, sqliteMemory, statements, type TestDatabase } from '../support/databases.js'
import { runs } from '../support/fuzz.js'

/*
 * SQLite keeps compiled statements on its connections. Whatever a session executes gives the same as through Sequelize.
 */

@Table({ tableName: 'thing', timestamps: false })
class Thing extends Base<Thing> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: number
  @Column({ type: DataType.STRING(20), field: 'a_name', unique: true }) declare name: string | null
  @Column(DataType.BIGINT) declare big: string | null
  @Column(DataType.DECIMAL(30, 4)) declare exact: string | null
  @Column(DataType.DOUBLE) declare real: number | null
  @Column(DataType.FLOAT) declare single: number | null
  @Column(DataType.BOOLEAN) declare flag: boolean | null
  @Column({ type: DataType.DATE, field: 'at' }) declare when: Date | null
  @Column(DataTypes.DATEONLY) declare day: string | null
  @Column(DataType.JSON) declare json: unknown
  @Column(DataType.BLOB) declare bytes: Buffer | null
}

const attributes = 'name big exact real single flag when day json bytes'.split(' ')
const columns = 'a_name big exact real single flag at day json bytes'.split(' ')

/** Values of every type that a statement can bind, near the bounds of SQLite's and JavaScript's numbers. */
const value = fc.oneof(
  fc.constantFrom(
    null,
    true,
    false,
    0,
    -0,
    1,
    2 ** 31,
    2 ** 53,
    2 ** 53 - 1,
    1e300,
    5n,
    2n ** 53n + 1n,
    2n ** 63n - 1n,
  ),
  fc.constantFrom(
    '',
    "it's $1",
    '?',
    'NaN',
    'Infinity',
    '1e3',
    '007',
    '{"a":1}',
    '[1',
    '2020-01-02',
    '2020-01-02 03:04:05.678 +00:00',
  ),
  fc.constantFrom('2020-01-02T03:04:05Z', '9007199254740993', 'ü🙂'),
  fc.string({ maxLength: 5 }).filter((text) => !text.includes('\0')),
  fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }),
  fc.uint8Array({ maxLength: 3 }).map((bytes) => Buffer.from(bytes)),
)
const name = fc.constantFrom('a', 'b', 'c', "d'", '$1')
const id = fc.integer({ min: 0, max: 6 })

/** Attributes of a new row, which the model accepts or refuses. */
const row = fc.record(
  {
    name,
    big: fc.constantFrom('9007199254740993', 7, null, 2n ** 62n),
    exact: fc.constantFrom('1.5', 2, '99999999.1234'),
    real: fc.constantFrom(1.5, 3, 1e300),
    single: fc.constantFrom(0.1, 3, null),
    flag: fc.constantFrom(true, false, null),
    when: fc.constantFrom(new Date(0), new Date(1.7e12 + 1), null),
    day: fc.constantFrom('2020-01-02', null),
    json: fc.constantFrom(null, 'text', '"1"', 5, { a: [1, null] }),
    bytes: fc.constantFrom(Buffer.from([0, 255]), Buffer.alloc(20_000, 7), null),
  },
  { requiredKeys: ['name'] },
) as fc.Arbitrary<object>

type Step = (session: Session) => Promise<unknown>
const step = <T>(values: fc.Arbitrary<T>, run: (session: Session, value: T) => Promise<unknown>) =>
  values.map((one): Step =>
    Object.assign((session: Session) => run(session, one), { [inspect.custom]: () => `${run} ${inspect(one)}` }),
  )

const reads = [
  step(id, (session, key) => session.get(Thing, key)),
  step(id, (session, key) => session.all(select(Thing, { where: { id: { [Op.gte]: key } }, order: ['id'] }))),
  step(name, (session, one) => session.first(select(Thing, { where: { name: one } }))),
  step(fc.subarray(attributes, { minLength: 1 }), (_, some) => Thing.findAll({ attributes: some, order: ['id'] })),
  step(fc.boolean(), (_, raw) => Thing.findAll({ raw, order: ['id'], limit: 2 })),
  step(id, (_, limit) => Thing.findAndCountAll({ order: [['big', 'DESC'], 'id'], limit })),
  step(name, (_, one) =>
    Thing.findAll({
      attributes: [
        ['when', 'name'],
        ['id', 'json'],
      ],
      where: { name: one },
    }),
  ),
  step(fc.constantFrom('SELECT * FROM thing', 'SELECT * FROM `thing` WHERE id > $1'), ({ sequelize }, query) =>
    sequelize.query(query, { type: QueryTypes.SELECT, ...(query.includes('$') && { bind: [2] }) }),
  ),
  step(fc.constantFrom('SELECT *, id AS "when" FROM thing', '-- why\nSELECT 1 AS one'), ({ sequelize }, query) =>
    sequelize.query(query, { model: Thing, mapToModel: false, type: QueryTypes.SELECT }),
  ),
  step(fc.constantFrom(...columns), (_, column) => Thing.sum(column as never)),
  step(value, (session, one) =>
    session.execute(sql`SELECT ${one} AS v, typeof(${one}) AS type, quote(${one}) AS quoted`),
  ),
  step(id, (session, one) => session.execute(sql`SELECT * FROM thing WHERE id >= ${one} ORDER BY id`)),
  step(id, (session, one) =>
    session.execute(sql`WITH a AS (SELECT *, $x AS x FROM thing) SELECT * FROM a WHERE id = ${one};`),
  ),
  step(id, (session) =>
    session.execute(sql`SELECT $1 AS unbound, count(*) AS "count", sum(big) AS "total" FROM thing`),
  ),
  step(id, (session, one) =>
    session.execute(sql`SELECT ${one} AS unbound, count(*) AS "count", sum(big) AS "total" FROM thing`),
  ),
  step(fc.constantFrom('PRAGMA foreign_keys_off', 'EXPLAIN SELECT 1', 'VALUES (1, 2)'), (session, text) =>
    session.execute(sql`${rawSql(text)}`),
  ),
]

const writes = [
  step(row, (_, one) => Thing.create(one as never)),
  step(fc.array(row, { maxLength: 3 }), (_, rows) => Thing.bulkCreate(rows as never)),
  step(fc.tuple(id, row), (_, [key, one]) => Thing.update(one, { where: { id: key } })),
  step(fc.tuple(id, row), async (session, [key, one]) => (await session.get(Thing, key))?.update(one)),
  step(id, async (session, key) => (await session.get(Thing, key))?.destroy()),
  step(id, (_, key) => Thing.destroy({ where: { id: { [Op.gt]: key } } })),
  step(id, (_, key) => Thing.increment({ id: 1, real: 2 } as never, { where: { id: key } })),
  step(row, (_, one) => Thing.upsert(one as never)),
  step(name, (_, one) => Thing.findOrCreate({ where: { name: one } })),
  step(fc.tuple(fc.constantFrom(...columns), value), (session, [column, one]) =>
    session.execute(sql`INSERT INTO thing (${rawSql(column)}) VALUES (${one}) RETURNING *`),
  ),
  step(fc.tuple(fc.constantFrom(...columns), value), (session, [column, one]) =>
    session.execute(sql`UPDATE thing SET ${rawSql(column)} = ${one} WHERE id % 2 = 0`),
  ),
  step(id, (session, key) => session.execute(sql`DELETE FROM thing WHERE id = ${key}`)),
  step(row, (session, one) =>
    session.nested(() => Thing.create(one as never)).catch((error: unknown) => outcome(error)),
  ),
  step(id, (session) => session.execute(sql`SELECT * FROM nowhere`)),
  step(id, (session, one) => session.execute(sql`SELEC ${one}`)),
  step(id, (session, one) => session.execute(sql`SELECT '${one}', ${one}`)),
  step(id, (session, one) => session.execute(sql`SELECT ${one}, '${one}' /* ${one} */`)),
  step(id, (session, one) =>
    session.execute(sql`ALTER TABLE thing ADD COLUMN ${rawSql(`extra${one}`)} DATETIME DEFAULT '2020-01-02'`),
  ),
  step(id, (session) => session.execute(sql`CREATE TABLE IF NOT EXISTS other AS SELECT * FROM thing`)),
  step(id, (session) => session.execute(sql`SELECT * FROM other`)),
  step(id, (session) => session.execute(sql`DROP TABLE other`)),
  step(id, async () => Promise.reject(new Error('of the handler'))),
]

/** Sessions, each with its statements. Reads come more often than one, so that statements are used again. */
const program = fc.array(
  fc.array(fc.oneof({ weight: 3, arbitrary: fc.oneof(...reads) }, { weight: 2, arbitrary: fc.oneof(...writes) }), {
    maxLength: 6,
  }),
  {
    minLength: 1,
    maxLength: 8,
  },
)

function outcome(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const {
    name,
    message,
    fields,
    code,
    errors,
    parameters,
    sql: text,
    original,
  } = error as unknown as Record<string, unknown>
  const items = (errors as readonly Record<string, unknown>[] | undefined)?.map(({ message, path, value }) => [
    message,
    path,
    value,
  ])
  return {
    name,
    message,
    fields,
    code,
    items,
    parameters,
    sql: normalized(String(text)),
    original: original && outcome(original),
  }
}

// Sequelize is shown raw SQL behind a comment, and writes the values of conditions into its SQL.
function normalized(text: string): string {
  return text.replace('/* sql */ ', '').replace(/\$\d+|'(?:[^']|'')*'|-?\b\d+(?:\.\d+)?\b/g, '?')
}

async function execute(database: Database, sessions: readonly (readonly Step[])[]): Promise<unknown[]> {
  const outcomes: unknown[] = []
  for (const steps of sessions)
    await withSession(database, async (session) => {
      for (const run of steps) outcomes.push(plain(await run(session)))
    }).catch((error: unknown) => outcomes.push(outcome(error)))
  outcomes.push(await withSession(database, (session) => session.execute(sql`SELECT * FROM thing ORDER BY id`)))
  return outcomes
}

// Instances are compared by their values.
function plain(result: unknown): unknown {
  return inspect(result, { depth: 8, getters: false, maxArrayLength: null, maxStringLength: null }).replace(
    /isNewRecord|_schema\w*/g,
    '',
  )
}

async function executed(t: TestContext, kind: TestDatabase, fastPath: boolean, sessions: readonly (readonly Step[])[]) {
  const { database, log, close } = await databaseApp(t, kind, [Thing], [], { lifespan: { fastPath } })
  const outcomes = await execute(database, sessions)
  await close()
  return { outcomes, log: statements(log).map(normalized) }
}

for (const kind of [sqliteMemory, sqliteFile])
  test(`${kind.name}: sessions give the same rows, errors and log with compiled statements as through Sequelize`, async (t) => {
    await fc.assert(
      fc.asyncProperty(program, async (sessions) => {
        const expected = await executed(t, kind, false, sessions)
        assert.deepEqual(await executed(t, kind, true, sessions), expected)
      }),
      { numRuns: runs(60) },
    )
  })
