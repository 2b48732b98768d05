// The same on both query paths: it names that of each database.
import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as fc from 'fast-check'
import { DataTypes, literal, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { type Database, type Session, withSession } from 'sequitur'
import { compileModelMethods } from '../../src/db/startup/compile-model-methods.js'
import { openBoth } from '../support/both-paths.js'
import { databases, statements, type TestDatabase } from '../support/databases.js'
import { runs } from '../support/fuzz.js'

/*
 * INSERT, UPDATE and DELETE with compiled SQL leave behind what save() and destroy() of Sequelize do, for all models and values: the same rows,
 * instances, errors, and SQL, but for the placeholder of a DELETE in the place of a literal.
 */

type AnyModel = ModelStatic<Model>
type Values = Readonly<Record<string, unknown>>

const UUID = '6ec0bd7f-11c0-43da-975e-2a8ad9ebae0b'
const AT = new Date('2024-02-29T12:34:56.789Z')

const TYPES = {
  INTEGER: [DataTypes.INTEGER, [0, -7, 2 ** 31 - 1, 2 ** 31, 1.5, '12', NaN]],
  BIGINT: [DataTypes.BIGINT, [1, '9007199254740993', 9n, 2 ** 60]],
  SMALLINT: [DataTypes.SMALLINT, [1, 40_000]],
  STRING: [DataTypes.STRING(5), ['', 'a', "o'n;", '$1', '\\0', 'é😀', 'a\0b', 'longer', '😀😀😀', 7, ['a'], { a: 1 }]],
  TEXT: [DataTypes.TEXT, ['a', 'two\nlines', true]],
  UUID: [DataTypes.UUID, [UUID, UUID.toUpperCase(), 'not']],
  BOOLEAN: [DataTypes.BOOLEAN, [true, false, 'yes', 2]],
  DOUBLE: [DataTypes.DOUBLE, [1.5, Infinity]],
  DECIMAL: [DataTypes.DECIMAL(4, 2), ['1.50', 2]],
  DATE: [DataTypes.DATE, [AT, '2024-02-29T12:34:56Z', new Date(NaN), new Date(-1e15)]],
  DATEONLY: [DataTypes.DATEONLY, ['2024-02-29']],
  ENUM: [DataTypes.ENUM('a', 'b'), ['a', 'b', 'c', 0]],
  JSON: [DataTypes.JSON, [{ a: [1, null] }, 'text']],
} as const
type TypeName = keyof typeof TYPES

interface Column {
  readonly type: TypeName
  readonly isRenamed: boolean
  readonly rule: 'required' | 'unique' | 'default' | 'sql' | 'validate' | 'setter' | 'getter' | undefined
}

interface Definition {
  readonly columns: readonly Column[]
  readonly key: 'serial' | 'text' | 'composite' | 'default'
  readonly timestamps: boolean
  readonly custom:
    | 'hook'
    | 'instance hook'
    | 'destroy hook'
    | 'validate'
    | 'version'
    | 'virtual'
    | 'save'
    | 'destroy'
    | 'paranoid'
    | undefined
}

const definitions: fc.Arbitrary<Definition> = fc.record({
  columns: fc.array(
    fc.record({
      type: fc.constantFrom(...(Object.keys(TYPES) as TypeName[])),
      isRenamed: fc.boolean(),
      rule: fc.option(fc.constantFrom('required', 'unique', 'default', 'sql', 'validate', 'setter', 'getter'), {
        nil: undefined,
        freq: 1,
      }),
    }),
    { minLength: 1, maxLength: 4 },
  ),
  key: fc.constantFrom('serial', 'serial', 'serial', 'text', 'composite', 'default'),
  timestamps: fc.boolean(),
  custom: fc.option(
    fc.constantFrom(
      'hook',
      'instance hook',
      'destroy hook',
      'validate',
      'version',
      'virtual',
      'save',
      'destroy',
      'paranoid',
    ),
    {
      nil: undefined,
      freq: 1,
    },
  ),
})

/** For each column the position of a value: mostly one of the first, which are valid. */
const rows = fc.array(
  fc.record({
    values: fc.array(fc.oneof({ weight: 4, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(20) }), {
      minLength: 4,
      maxLength: 4,
    }),
    id: fc.constantFrom(undefined, undefined, undefined, null, 1, 7, 'a', 'b'),
  }),
  { minLength: 1, maxLength: 4 },
)

function define(sequelize: Sequelize, { columns, key, timestamps, custom }: Definition, name: string): AnyModel {
  const text = { type: DataTypes.STRING(30), primaryKey: true }
  const attributes: Record<string, object> = {
    id:
      key === 'serial' || key === 'composite'
        ? { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: key === 'serial', field: 'the_id' }
        : { ...text, ...(key === 'default' ? { defaultValue: () => 'made' } : {}) },
    ...(key === 'composite' ? { second: { ...text, defaultValue: 'x' } } : {}),
    ...(custom === 'virtual' ? { loud: DataTypes.VIRTUAL } : {}),
  }
  for (const [index, { type, isRenamed, rule }] of columns.entries()) {
    const [[first]] = [TYPES[type][1]]
    const rules = {
      required: { allowNull: false },
      unique: { unique: true },
      default: { defaultValue: first },
      sql: { defaultValue: literal(type === 'STRING' ? "'lit'" : 'NULL') },
      validate: { validate: { isIn: [[first]] } },
      setter: { set: undefined },
      getter: { get: () => 'gotten' },
    }
    const name_ = `c${index}`
    const setter = {
      set(this: Model, value: unknown) {
        this.setDataValue(name_ as never, (value === 'a' ? 'b' : value) as never)
      },
    }
    attributes[name_] = {
      type: TYPES[type][0],
      ...(isRenamed ? { field: `f_${index}` } : {}),
      ...(rule === 'setter' ? setter : rule ? rules[rule] : {}),
    }
  }
  const model = sequelize.define(name, attributes as never, {
    timestamps: timestamps || custom === 'paranoid',
    paranoid: custom === 'paranoid',
    version: custom === 'version',
    underscored: timestamps,
    ...(custom === 'hook'
      ? { hooks: { beforeCreate: (one: Model) => void one.set('c0' as never, null as never) } }
      : {}),
    ...(custom === 'validate'
      ? {
          validate: {
            never() {
              throw new Error('no')
            },
          },
        }
      : {}),
  })
  if (custom === 'instance hook') model.addHook('afterSave', (one) => void Object.assign(one, { own: 1 }))
  if (custom === 'destroy hook') model.addHook('beforeDestroy', (one) => void Object.assign(one, { own: 1 }))
  if (custom === 'destroy') model.prototype.destroy = () => Promise.resolve()
  if (custom === 'save')
    model.prototype.save = function (this: Model, ...args: []) {
      return Object.getPrototypeOf(model.prototype).save.apply(this, args)
    }
  return model
}

interface Row {
  readonly values: readonly number[]
  readonly id: unknown
}

function valuesOf({ columns }: Definition, { values, id }: Row): Values {
  const given = columns.map(({ type }, index): [string, unknown] => {
    const all: readonly unknown[] = [...TYPES[type][1].slice(0, 3), null, undefined, ...TYPES[type][1].slice(3)]
    return [`c${index}`, all[(values[index] ?? 0) % all.length]]
  })
  return Object.fromEntries([
    ...(id === undefined ? [] : [['id', id]]),
    ...given.filter(([, value]) => value !== undefined),
  ])
}

/** The times of this moment are equal, also in the form in which databases store them. */
function withoutNow(value: unknown): unknown {
  const isTime = value instanceof Date || (typeof value === 'string' && /^\d{4}-\d\d-\d\d \d\d:/.test(value))
  if (isTime) return Math.abs(Date.now() - new Date(value).getTime()) < 600_000 ? 'now' : value
  if (Array.isArray(value)) return value.map(withoutNow)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutNow(one)]))
}

function shown(instance: Model): unknown {
  const { dataValues, _previousDataValues, _options, isNewRecord, own } = instance as unknown as Values
  const state = { dataValues, _previousDataValues, _options, isNewRecord, own, changed: instance.changed() }
  return [withoutNow(state), Object.keys(dataValues as object), Object.keys(_previousDataValues as object)]
}

interface DatabaseError extends Error {
  readonly errors?: readonly { readonly message: string; readonly path: string; readonly instance: unknown }[]
  readonly fields?: unknown
  readonly parameters?: unknown
}

function told(error: unknown, instances: readonly Model[]): unknown {
  const { name, message, errors = [], fields, parameters } = error as DatabaseError
  const items = errors.map((one) => [one.message, one.path, instances.indexOf(one.instance as Model)])
  return {
    name,
    message: message.replace(/^\(conn:\d+/, '(conn').replace(/'\d{4}-\d\d-\d\d [\d:.]+'/g, 'now'),
    items,
    fields,
    parameters: withoutNow(parameters),
  }
}

interface Outcome {
  readonly result: unknown
  readonly instances: readonly unknown[]
}

/** How rows are written: all by one flush, each by one, or by methods of their model. */
const WAYS = ['flush', 'each', 'save', 'create'] as const
type Way = (typeof WAYS)[number]

async function outcome(database: Database, model: AnyModel, { values: given, way, changes }: Writes): Promise<Outcome> {
  const instances: Model[] = []
  const result = await withSession(database, async (session) => {
    for (const values of given) {
      if (way === 'create') instances.push(await model.create(values as never))
      else instances.push(model.build(values as never))
      const instance = instances.at(-1) as Model // added before
      if (way === 'save') assert.equal(await instance.save({ transaction: session.transaction }), instance)
      else if (way !== 'create') session.add(instance)
      if (way === 'each') await session.flush()
    }
    await session.flush()
    const results: unknown[] = []
    for (const { row, values } of changes) {
      const instance = instances[row % instances.length] as Model // there is at least one
      results.push(named(await change(session, instance, values, way), instance))
      if (way === 'each') await session.flush()
    }
    await session.flush()
    return results
  }).then(
    (results) => results,
    (error: unknown) => told(error, instances),
  )
  return { result, instances: instances.map(shown) }
}

/** Changes a row; without values, it is deleted. */
async function change(session: Session, instance: Model, values: Values | undefined, way: Way): Promise<unknown> {
  const isByModel = way === 'save' || way === 'create'
  const options = way === 'save' ? { transaction: session.transaction } : undefined
  if (!values) return isByModel ? instance.destroy(options) : session.delete(instance)
  if (way === 'create') return instance.update(values)
  instance.set(values)
  return way === 'save' ? instance.save(options) : session.add(instance)
}

function named(result: unknown, instance: Model): unknown {
  return result === instance ? 'the instance' : result
}

interface Writes {
  readonly values: readonly Values[]
  readonly way: Way
  readonly changes: readonly { readonly row: number; readonly values: Values | undefined }[]
}

/** A DELETE of Sequelize has a literal. */
function withoutKey(sql: string): string {
  return sql.startsWith('DELETE') ? sql.replace(/(= )(?:\$\d(?:::\w+)?|'[^']*'|\d+)/g, '$1?') : sql
}

for (const kind of databases.filter(({ name }) => !name.includes('memory')))
  test(`${kind.name}: compiled writes do what Sequelize's save() and destroy() do`, { timeout: 280_000 }, (t) =>
    law(t, kind),
  )

/** Keys begin with 1 again. PostgreSQL keeps the types of the columns: their numbers are in messages. */
async function emptied(model: AnyModel): Promise<void> {
  const isPostgres = model.sequelize?.getDialect() === 'postgres'
  await model.sync({ force: !isPostgres, logging: false })
  if (isPostgres) await model.truncate({ restartIdentity: true, logging: false })
}

async function law(t: TestContext, kind: TestDatabase): Promise<void> {
  const [compiled, plain] = await openBoth(t, kind, [], {})
  let tables = 0
  const work = async (definition: Definition, given: readonly Writes[]) => {
    const name = `Thing${++tables}`
    const [model, other] = [compiled, plain].map(({ database }) => define(database.sequelize, definition, name)) as [
      AnyModel,
      AnyModel,
    ]
    compileModelMethods([model]) // as for a model of the app
    for (const one of given) {
      const tableOf = async () => withoutNow(await other.unscoped().findAll({ raw: true, logging: false }))
      const all = []
      for (const [which, { database, log }] of [
        [other, plain],
        [model, compiled],
      ] as const) {
        await emptied(other)
        log.length = 0
        const { result, instances } = await outcome(database, which, one)
        // Of rows that are sent at once, later ones may be under way when one fails.
        const state =
          one.way !== 'flush' || Array.isArray(result) ? { instances, log: statements(log).map(withoutKey) } : {}
        all.push({ result, ...state, table: await tableOf() })
      }
      assert.deepEqual(all[1], all[0])
    }
    await other.drop({ logging: false })
  }
  const property = fc.asyncProperty(
    definitions.chain((definition) =>
      fc.tuple(
        fc.constant(definition),
        fc.array(
          fc.record({
            values: rows.map((all) => all.map((row) => valuesOf(definition, row))),
            way: fc.constantFrom(...WAYS),
            changes: fc.array(
              fc.record({
                row: fc.nat(3),
                values: fc.option(
                  rows.map(([row]) => valuesOf(definition, row as Row)),
                  { nil: undefined, freq: 3 },
                ),
              }),
              { maxLength: 3 },
            ),
          }),
          { minLength: 4, maxLength: 4 },
        ),
      ),
    ),
    ([definition, given]) => work(definition, given),
  )
  await fc.assert(property, { numRuns: runs(25), endOnFailure: true })
}
