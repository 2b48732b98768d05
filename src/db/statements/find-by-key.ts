import { literal, Model as SequelizeModel, type Model, type ModelStatic, Op } from 'sequelize'
import { Model as ClassModel } from 'sequelize-typescript'
import { dataTypeInternals, modelInternals } from '../sequelize/internals.js'

/** One row by its primary key: the most frequent of all reads, as a text with one placeholder. */
export interface KeyQuery<M extends Model> {
  readonly text: string
  readonly values: readonly unknown[]
  build(rows: readonly unknown[]): M | null
}

const texts = new WeakMap<object, string>()

/**
 * How to read the row without Sequelize's findByPk(), which works out the same text each time;
 * undefined where the model has a say in it (scopes, hooks, methods of its own), and for keys that the column may compare in another way.
 */
export function findByKey<M extends Model>(model: ModelStatic<M>, key: unknown): KeyQuery<M> | undefined {
  if (!fits(model, key) || hasSay(model)) return undefined
  const inside = modelInternals(model)
  const attributes = Object.keys(model.getAttributes())
  return {
    text: textOf(model),
    values: [key],
    build: (rows) => (inside.bulkBuild(rows, { isNewRecord: false, raw: true, attributes })[0] ?? null) as M | null,
  }
}

function textOf(model: ModelStatic<Model>): string {
  const known = texts.get(model) ?? newText(model)
  texts.set(model, known)
  return known
}

function newText(model: ModelStatic<Model>): string {
  const columns = Object.entries(model.getAttributes()).map(([name, { field = name }]) =>
    field === name ? name : [field, name],
  )
  const key = model.getAttributes()[model.primaryKeyAttribute]?.field as string
  const { queryGenerator } = modelInternals(model)
  return queryGenerator.selectQuery(
    model.getTableName(),
    { attributes: columns, where: { [key]: { [Op.eq]: literal('$1') } } },
    model,
  )
}

const INT32 = 2 ** 31

// As a placeholder takes the column's type, a number beyond it would be an error, where Sequelize's text finds no row.
function fits(model: ModelStatic<Model>, key: unknown): boolean {
  if (model.primaryKeyAttributes.length !== 1) return false
  const type = model.getAttributes()[model.primaryKeyAttribute]?.type
  const { key: name = '' } = dataTypeInternals(type)
  if (NUMERIC.has(name)) return Number.isInteger(key) && (key as number) < INT32 && (key as number) >= -INT32
  return TEXTUAL.has(name) && typeof key === 'string'
}

const NUMERIC: ReadonlySet<string> = new Set(['INTEGER', 'BIGINT'])
const TEXTUAL: ReadonlySet<string> = new Set(['STRING', 'TEXT', 'UUID'])

const METHODS = ['findByPk', 'findOne', 'findAll'] as const
const HOOKS = [
  'beforeFind',
  'beforeFindAfterExpandIncludeAll',
  'beforeFindAfterOptions',
  'afterFind',
  'beforeQuery',
  'afterQuery',
] as const

function hasSay(model: ModelStatic<Model>): boolean {
  const { _scope = {}, _hasVirtualAttributes, options } = modelInternals(model)
  if (Object.keys(_scope).length > 0 || _hasVirtualAttributes || options.paranoid || options.rejectOnEmpty) return true
  if (METHODS.some((name) => model[name] !== SequelizeModel[name] && model[name] !== ClassModel[name])) return true
  return HOOKS.some((name) => model.hasHook(name) || model.sequelize?.hasHook(name))
}
