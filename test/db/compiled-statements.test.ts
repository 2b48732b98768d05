// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { DataTypes, literal, Model, type ModelStatic, Op, Sequelize } from 'sequelize'
import { type Database, newLifespan, select, type Session, withSession } from 'sequitur'
import { compileModelMethods } from '../../src/db/startup/compile-model-methods.js'
import { instancesOf } from '../../src/paging/lazy-instances.js'
import { OffsetList } from '../../src/paging/offset/offset-list.js'
import { openBoth } from '../support/both-paths.js'
import { databases, statements, type TestDatabase } from '../support/databases.js'

/*
 * Statements with compiled SQL return what Sequelize returns, for all models, statements and rows: the same instances, errors, and SQL, but for
 * placeholders in the place of literals.
 */

type AnyModel = ModelStatic<Model>
type Values = Readonly<Record<string, unknown>>

const UUID = '6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b'
const AT = new Date('2024-02-29T12:34:56.789Z')

/** For each type, values of rows. */
const TYPES = {
  INTEGER: [DataTypes.INTEGER, [0, 1, -7, 70_000]],
  BIGINT: [DataTypes.BIGINT, ['1', '9007199254740993']],
  SMALLINT: [DataTypes.SMALLINT, [1, 2]],
  STRING: [DataTypes.STRING(30), ['', 'a', "o'ne; --", '$1', '\\0', 'é😀']],
  TEXT: [DataTypes.TEXT, ['a', 'two\nlines']],
  UUID: [DataTypes.UUID, [UUID]],
  BOOLEAN: [DataTypes.BOOLEAN, [true, false]],
  DECIMAL: [DataTypes.DECIMAL(10, 2), ['1.50']],
  DOUBLE: [DataTypes.DOUBLE, [1.5]],
  DATE: [DataTypes.DATE, [AT]],
  DATEONLY: [DataTypes.DATEONLY, ['2024-02-29']],
  JSON: [DataTypes.JSON, [{ a: [1, null] }]],
} as const
type TypeName = keyof typeof TYPES

const typeNames = Object.keys(TYPES) as TypeName[]
const ANY = [1, 0, -7, 1.5, 70_000, 2 ** 31, 2n, '1', 'a', 'A', '$1', 'a\0b', '\\0', UUID, UUID.toUpperCase()]
const conditionValues: readonly unknown[] = [
  ...ANY,
  null,
  true,
  false,
  AT,
  [1, 'a'],
  [],
  { [Op.gt]: 0 },
  literal('1'),
  {},
]

interface Definition {
  readonly columns: readonly { readonly type: TypeName; readonly field: 'same' | 'other' | 'swapped' }[]
  readonly key: 'serial' | 'text' | 'composite'
  readonly custom: 'scope' | 'hook' | 'getter' | 'virtual' | 'paranoid' | 'version' | 'build' | 'findAll' | undefined
  readonly rows: readonly (readonly number[])[]
}

const definitions: fc.Arbitrary<Definition> = fc.record({
  columns: fc.array(
    fc.record({ type: fc.constantFrom(...typeNames), field: fc.constantFrom('same', 'same', 'other', 'swapped') }),
    { minLength: 1, maxLength: 5 },
  ),
  key: fc.constantFrom('serial', 'serial', 'text', 'composite'),
  custom: fc.option(fc.constantFrom('scope', 'hook', 'getter', 'virtual', 'paranoid', 'version', 'build', 'findAll'), {
    nil: undefined,
    freq: 1,
  }),
  rows: fc.array(fc.array(fc.nat(), { minLength: 5, maxLength: 5 }), { maxLength: 4 }),
})

interface Statement {
  readonly kind:
    | 'page'
    | 'all'
    | 'first'
    | 'count'
    | 'get'
    | 'findAll'
    | 'findOne'
    | 'findByPk'
    | 'findAndCountAll'
    | 'Model.count'
  /** Options of the methods of models that they do without, or that Sequelize executes. */
  readonly extra: 'transaction' | 'raw' | 'attributes' | undefined
  readonly where: readonly (readonly [column: number, value: number])[]
  readonly order: readonly (readonly [column: number, direction: string | undefined])[]
  readonly limit: number | undefined
  readonly offset: number | undefined
  readonly key: unknown
}

const statementsOf: fc.Arbitrary<Statement> = fc.record({
  kind: fc.constantFrom(
    'page',
    'all',
    'first',
    'count',
    'get',
    'findAll',
    'findOne',
    'findByPk',
    'findAndCountAll',
    'Model.count',
  ),
  extra: fc.option(fc.constantFrom('transaction', 'raw', 'attributes'), { nil: undefined, freq: 1 }),
  where: fc.array(fc.tuple(fc.nat(6), fc.nat(60)), { maxLength: 3 }),
  order: fc.array(fc.tuple(fc.nat(6), fc.constantFrom(undefined, 'ASC', 'desc', 'DESC NULLS LAST', 'up')), {
    maxLength: 2,
  }),
  limit: fc.option(fc.nat(3), { nil: undefined }),
  offset: fc.option(fc.nat(2), { nil: undefined }),
  key: fc.oneof(fc.constantFrom(...ANY), fc.constant({ id: 1, second: 'a' }), fc.constant({ id: 1 })),
})

const nameOf = (index: number) => `c${index}`

function define(sequelize: Sequelize, { columns, key, custom }: Definition, name: string): AnyModel {
  const id = { type: key === 'text' ? DataTypes.STRING(30) : DataTypes.INTEGER, primaryKey: true, field: 'the_id' }
  const attributes: Record<string, object> = {
    id: { ...id, autoIncrement: key === 'serial' },
    ...(key === 'composite' ? { second: { type: DataTypes.STRING(10), primaryKey: true } } : {}),
    ...(custom === 'virtual' ? { loud: DataTypes.VIRTUAL } : {}),
  }
  for (const [index, { type, field }] of columns.entries()) {
    // Two columns with each other's names, where there are two.
    const partner = index % 2 === 0 ? index + 1 : index - 1
    const isSwapped = field === 'swapped' && columns[partner]?.field === 'swapped' && columns[partner].type === type
    attributes[nameOf(index)] = {
      type: TYPES[type][0],
      field: isSwapped ? nameOf(partner) : field === 'same' ? nameOf(index) : `f_${index}`,
      ...(custom === 'getter' && index === 0 ? { get: () => 'gotten' } : {}),
    }
  }
  const model = sequelize.define(name, attributes as never, {
    timestamps: custom === 'paranoid',
    paranoid: custom === 'paranoid',
    version: custom === 'version',
    ...(custom === 'scope' ? { defaultScope: { order: [['id', 'DESC']] } } : {}),
    ...(custom === 'hook' ? { hooks: { beforeFind: (options: { limit?: number }) => void (options.limit = 1) } } : {}),
  })
  if (custom === 'build')
    Object.assign(model, { build: (...args: []) => Object.assign(new model(...args), { own: 1 }) })
  if (custom === 'findAll') Object.assign(model, { findAll: () => Promise.resolve([]) })
  return model
}

function rowsOf({ columns, key, rows }: Definition): Values[] {
  return rows.map((choices, row) => ({
    ...(key === 'serial' ? {} : { id: key === 'text' ? ANY.filter((value) => typeof value === 'string')[row] : 1 }),
    ...(key === 'composite' ? { second: 'abcd'[row] } : {}),
    ...Object.fromEntries(
      columns.map(({ type }, index) => {
        const values: readonly unknown[] = [...TYPES[type][1], null]
        return [nameOf(index), values[(choices[index] ?? 0) % values.length]]
      }),
    ),
  }))
}

/** The condition's value: mostly one that a row may have. */
function valueOf({ columns }: Definition, column: number, choice: number): unknown {
  const type = columns[column]?.type
  const own: readonly unknown[] = type && choice % 2 === 0 ? [...TYPES[type][1], null] : conditionValues
  return own[(choice >> 1) % own.length]
}

function optionsOf(definition: Definition, { where, order, limit, offset, kind }: Statement): object {
  const columnOf = (index: number) => (index === 6 ? 'id' : nameOf(index % definition.columns.length))
  return {
    ...(where.length > 0
      ? {
          where: Object.fromEntries(
            where.map(([at, value]) => [columnOf(at), valueOf(definition, at % definition.columns.length, value)]),
          ),
        }
      : {}),
    ...(order.length > 0
      ? { order: order.map(([at, direction]) => (direction === undefined ? columnOf(at) : [columnOf(at), direction])) }
      : {}),
    ...(limit === undefined || kind === 'page' ? {} : { limit }),
    ...(offset === undefined || kind === 'page' ? {} : { offset }),
  }
}

function methodOptions(session: Session, definition: Definition, statement: Statement): object | undefined {
  const extra = {
    transaction: { transaction: session.transaction },
    raw: { raw: true },
    attributes: { attributes: ['id'] },
  }
  const options = {
    ...(statement.kind === 'findByPk' ? {} : optionsOf(definition, statement)),
    ...(statement.extra ? extra[statement.extra] : {}),
  }
  // Without options, findAndCountAll() of Sequelize throws.
  return Object.keys(options).length === 0 && statement.kind !== 'findAndCountAll' ? undefined : options
}

async function execute(
  session: Session,
  model: AnyModel,
  definition: Definition,
  statement: Statement,
): Promise<unknown> {
  const query = select(model, optionsOf(definition, statement))
  const options = methodOptions(session, definition, statement)
  switch (statement.kind) {
    case 'findAll':
      return model.findAll(options)
    case 'findOne':
      return model.findOne(options)
    case 'findByPk':
      return model.findByPk(statement.key as never, options)
    case 'findAndCountAll': {
      const { rows, count } = await model.findAndCountAll(options)
      return [rows, count]
    }
    case 'Model.count':
      return model.count(options)
    case 'all':
      return session.all(query)
    case 'first':
      return session.first(query)
    case 'count':
      return session.count(query)
    case 'get':
      return session.get(model, statement.key as never)
    case 'page': {
      const list = new OffsetList(query, session.openPage())
      const rows = await list.rows({ limit: statement.limit ?? 10, offset: statement.offset ?? 0 }, false)
      return [instancesOf(rows), await list.count()]
    }
  }
}

async function outcome(work: () => Promise<unknown>): Promise<unknown> {
  try {
    return shown(await work())
  } catch (error) {
    const { name, message } = error as Error
    // Sequelize's error has the key, which may be a client's.
    if (/^Argument passed to findByPk is invalid|^id cannot be an object/.test(message)) return 'an object as key'
    // Of another connection; Sequelize writes an object that is no date as the present.
    return { name, message: message.replace(/^\(conn:\d+/, '(conn').replace(/'[\d-]{10} [\d:.]+'/g, "'a time'") }
  }
}

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shown)
  if (typeof value !== 'object' || value === null || !('dataValues' in value)) return value
  const { dataValues, _previousDataValues, _options, isNewRecord, own } = value as unknown as Values
  const state = { dataValues, _previousDataValues, _options, isNewRecord, own }
  const keys = Object.keys(dataValues as object)
  return { ...state, keys, changed: (value as unknown as Model).changed(), name: value.constructor.name }
}

/** SQL without values: a placeholder is `?`, as is a literal. */
function outline(sql: string): string {
  return sql.replace(/\$\d+(?:::\w+)?|'(?:[^']|'')*'|\b(?:true|false)\b|-?\b\d+\b(?! OFFSET)/g, '?')
}

for (const kind of databases.filter(({ name }) => !name.includes('memory'))) {
  test(`${kind.name}: compiled statements return what Sequelize's return`, { timeout: 280_000 }, (t) => law(t, kind))
}

async function law(t: TestContext, kind: TestDatabase): Promise<void> {
  const [compiled, plain] = await openBoth(t, kind, [], {})
  let tables = 0
  const work = async (definition: Definition, given: readonly Statement[]) => {
    const name = `Thing${++tables}`
    const models = [compiled, plain].map(({ database }) => define(database.sequelize, definition, name))
    const [model, other] = models as [AnyModel, AnyModel]
    compileModelMethods([model]) // as for a model of the app
    await other.sync()
    for (const row of rowsOf(definition)) await other.create(row as never, { hooks: false }).catch(() => {}) // swapped columns
    for (const statement of given) {
      compiled.log.length = plain.log.length = 0
      const run = (database: Database, which: AnyModel) =>
        outcome(() => withSession(database, (session) => execute(session, which, definition, statement)))
      const expected = await run(plain.database, other)
      assert.deepEqual(await run(compiled.database, model), expected)
      // findAndCountAll() sends both statements at once, in any order.
      const logOf = ({ log }: { readonly log: string[] }) => {
        const outlines = statements(log).map(outline)
        return statement.kind === 'findAndCountAll' ? outlines.toSorted() : outlines
      }
      assert.deepEqual(logOf(compiled), logOf(plain))
    }
    await other.drop()
  }
  const runs = fc.asyncProperty(definitions, fc.array(statementsOf, { minLength: 25, maxLength: 25 }), work)
  await fc.assert(runs, { numRuns: Number(process.env['COMPILED_RUNS'] ?? 12), endOnFailure: true })
}

test('the SQL of a method of a mapped model is generated once, in a session; not for a class that overrides the method', async (t) => {
  class Thing extends Model {}
  class Own extends Model {
    static override findAll = () => Promise.reject(new Error('own'))
  }
  for (const model of [Thing, Own])
    model.init(
      { id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true } },
      { sequelize: new Sequelize('sqlite::memory:', { logging: false }), timestamps: false },
    )
  for (const model of [Thing, Own]) {
    const database = newLifespan(model.sequelize as Sequelize, { sync: true, fastPath: true })
    await database.start()
    t.after(() => database.stop())
    const { queryGenerator } = model as unknown as {
      queryGenerator: Record<'selectQuery' | 'insertQuery', () => string>
    }
    const spies = (['selectQuery', 'insertQuery'] as const).map((name) => t.mock.method(queryGenerator, name).mock)
    const twice = () =>
      withSession(database, async () => {
        for (const id of [1, 2]) {
          await model.create({})
          assert.equal((await model.findByPk(id))?.get('id'), id)
        }
      })
    if (model === Own) await assert.rejects(twice(), /own/)
    else {
      await twice()
      assert.deepEqual(
        spies.map((spy) => spy.callCount()),
        [1, 1],
      )
    }
  }
})
