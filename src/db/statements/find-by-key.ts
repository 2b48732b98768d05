import {
  type Attributes,
  type FindOptions,
  literal,
  Model as SequelizeModel,
  type Model,
  type ModelStatic,
  Op,
  type WhereOptions,
} from 'sequelize'
import { Model as ClassModel } from 'sequelize-typescript'
import { dataTypeInternals, modelInternals } from '../sequelize/internals.js'

/** What identifies a row: the value of its primary key, or for a composite key an object with a value for each column. */
export type Key<M extends Model> =
  | string
  | number
  | bigint
  | Date
  | Buffer
  | { readonly [K in keyof Attributes<M>]?: Attributes<M>[K] }

/**
 * Reads a row by its primary key through Sequelize.
 *
 * @throws TypeError for an object that does not have exactly the columns of the primary key.
 */
export function findByKey<M extends Model>(
  model: ModelStatic<M>,
  key: Key<M>,
  options: Omit<FindOptions<Attributes<M>>, 'where'> | undefined,
): Promise<M | null> {
  if (typeof key !== 'object' || Buffer.isBuffer(key)) return model.findByPk(key, options)
  if (!(key instanceof Date)) refuseOtherThanKey(model, key)
  const where = key instanceof Date ? { [model.primaryKeyAttribute]: key } : key
  // TypeScript does not know the attributes of a model that is a type parameter.
  return model.findOne({ ...options, where: where as WhereOptions<Attributes<M>> })
}

// An object that a client has sent could name other columns, or none, and so find rows that the program did not mean.
function refuseOtherThanKey(model: ModelStatic<Model>, key: object): void {
  const [given, needed] = [Object.keys(key).toSorted(), model.primaryKeyAttributes.toSorted()]
  if (given.join() === needed.join()) return
  throw new TypeError(
    `session.get(${model.name}, ...): the key is { ${needed.join(', ')} }, got { ${given.join(', ')} }. ` +
      `To find a row by other columns, write session.first(select(${model.name}, { where: { ... } })).`,
  )
}

/** A query for one row by its primary key, with one placeholder. */
export interface KeyQuery<M extends Model> {
  readonly sql: string
  readonly values: readonly unknown[]
  build(rows: readonly unknown[]): M | null
}

const sqlOfModels = new WeakMap<object, string>()

/**
 * The query for the row, whose SQL is made once for each model; Sequelize's findByPk() makes it for each call. Undefined if the query could give
 * another result than findByPk(): for models with scopes, hooks or overridden methods, and for keys that the database would convert.
 */
export function keyQuery<M extends Model>(model: ModelStatic<M>, key: unknown): KeyQuery<M> | undefined {
  if (!isPlainKey(model, key) || isCustomized(model)) return undefined
  const internals = modelInternals(model)
  const attributes = Object.keys(model.getAttributes())
  return {
    sql: sqlOf(model),
    values: [key],
    build: (rows) =>
      // bulkBuild() of a model builds instances of this model.
      (internals.bulkBuild(rows, { isNewRecord: false, raw: true, attributes })[0] ?? null) as M | null,
  }
}

function sqlOf(model: ModelStatic<Model>): string {
  const known = sqlOfModels.get(model) ?? newSql(model)
  sqlOfModels.set(model, known)
  return known
}

function newSql(model: ModelStatic<Model>): string {
  const attributes = model.getAttributes()
  const columns = Object.entries(attributes).map(([name, { field = name }]) => (field === name ? name : [field, name]))
  const { [model.primaryKeyAttribute]: { field: key = model.primaryKeyAttribute } = {} } = attributes
  const { queryGenerator } = modelInternals(model)
  return queryGenerator.selectQuery(
    model.getTableName(),
    { attributes: columns, where: { [key]: { [Op.eq]: literal('$1') } } },
    model,
  )
}

const INT32 = 2 ** 31

// PostgreSQL reports an error for a parameter beyond the column's type. With the value in the SQL, as Sequelize writes it, there is no row.
function isPlainKey(model: ModelStatic<Model>, key: unknown): boolean {
  if (model.primaryKeyAttributes.length !== 1) return false
  const type = model.getAttributes()[model.primaryKeyAttribute]?.type
  const { key: name = '' } = dataTypeInternals(type)
  if (NUMBER_TYPES.has(name)) return typeof key === 'number' && Number.isInteger(key) && key < INT32 && key >= -INT32
  return STRING_TYPES.has(name) && typeof key === 'string'
}

const NUMBER_TYPES: ReadonlySet<string> = new Set(['INTEGER', 'BIGINT'])
const STRING_TYPES: ReadonlySet<string> = new Set(['STRING', 'TEXT', 'UUID'])

const METHODS = ['findByPk', 'findOne', 'findAll'] as const
const HOOKS = [
  'beforeFind',
  'beforeFindAfterExpandIncludeAll',
  'beforeFindAfterOptions',
  'afterFind',
  'beforeQuery',
  'afterQuery',
] as const

// Whether scopes, options, methods or hooks of the model could change the query or its result.
function isCustomized(model: ModelStatic<Model>): boolean {
  const { _scope = {}, _hasVirtualAttributes, options } = modelInternals(model)
  if (Object.keys(_scope).length > 0 || _hasVirtualAttributes || options.paranoid || options.rejectOnEmpty) return true
  if (METHODS.some((name) => model[name] !== SequelizeModel[name] && model[name] !== ClassModel[name])) return true
  return HOOKS.some((name) => model.hasHook(name) || model.sequelize?.hasHook(name))
}
