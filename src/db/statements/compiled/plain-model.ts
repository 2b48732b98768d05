import { Model as SequelizeModel, type Model, type ModelStatic } from 'sequelize'
import { Model as ClassModel } from 'sequelize-typescript'
import { modelInternals, sequelizeInternals } from '../../sequelize/internals.js'

const METHODS = [
  'findByPk',
  'findOne',
  'findAll',
  'count',
  'aggregate',
  'build',
  'bulkBuild',
  'getTableName',
  'getAttributes',
] as const
const HOOKS = [
  'beforeFind',
  'beforeFindAfterExpandIncludeAll',
  'beforeFindAfterOptions',
  'afterFind',
  'beforeCount',
  'beforeQuery',
  'afterQuery',
] as const

/**
 * Whether only the statement decides which rows of the model are read, and Sequelize alone what they become: no scopes, hooks, virtual columns,
 * overridden methods or options of the model or of its instance of Sequelize. Checked for each statement, as hooks may be added at any time.
 */
export function isPlainModel(model: ModelStatic<Model>): boolean {
  const { sequelize } = model
  if (!sequelize || model.primaryKeyAttributes.length === 0) return false // Sequelize remembers the last condition of a model without a key
  const { _scope = {}, _hasVirtualAttributes, options } = modelInternals(model)
  if (_hasVirtualAttributes || options.paranoid || options.rejectOnEmpty || !isEmpty(_scope)) return false
  const { query = {}, typeValidation } = sequelizeInternals(sequelize).options
  if (typeValidation || !isEmpty(query)) return false
  return METHODS.every((name) => isOfSequelize(model, name)) && !HOOKS.some((name) => isHooked(model, name))
}

function isHooked(model: ModelStatic<Model>, name: (typeof HOOKS)[number]): boolean {
  return model.hasHook(name) || model.sequelize?.hasHook(name) === true
}

function isOfSequelize(model: ModelStatic<Model>, name: (typeof METHODS)[number]): boolean {
  const method: unknown = model[name]
  return method === SequelizeModel[name] || method === ClassModel[name]
}

function isEmpty(object: object): boolean {
  for (const _ in object) return false
  return Object.getOwnPropertySymbols(object).length === 0
}
