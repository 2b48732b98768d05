import { tableNameOf } from '../models/table-name.js'
import type { Model, ModelStatic, Sequelize } from 'sequelize'
import { getModelName, type ModelCtor } from 'sequelize-typescript'
import { BootError } from '../../core/boot-error.js'
import { NOT_LOADED } from '../../core/options.js'
import { type Association, associationsOf } from '../models/associations.js'

/** @throws BootError for two classes of one name: Sequelize knows models by their names, and the second would replace the first. */
export function refuseSameNames(sequelize: Sequelize, classes: readonly ModelCtor[]): void {
  const found = new Map<string, unknown>(Object.entries(sequelize.models))
  for (const model of classes) {
    const name = getModelName(model.prototype) ?? model.name
    if ((found.get(name) ?? model) !== model)
      throw new BootError(
        `Two models have the name ${name}. Rename one of the classes, or write @Table({ modelName: 'Other${name}' }).`,
      )
    found.set(name, model)
  }
}

/** @throws BootError for an association with a model that is not mapped to this instance; names the property. */
export function refuseMissingModels(sequelize: Sequelize, classes: readonly ModelCtor[]): void {
  const known = new Set<unknown>([...classes, ...Object.values(sequelize.models)])
  for (const model of classes)
    for (const association of associationsOf(model)) {
      const target = targetOf(association)
      const where = `${model.name}.${association.name}`
      if (target === undefined)
        throw new BootError(`${where}: the class of the association is undefined. ${NOT_LOADED}`)
      if (!known.has(target))
        throw new BootError(
          `${where} refers to the model ${target.name}, which is not among the models of this database. ` +
            `Add it: models: [${model.name}, ${target.name}].`,
        )
    }
}

function targetOf({ target }: Association): ModelStatic<Model> | undefined {
  return target()
}

/** @throws BootError for two models of one table: each would read and write columns that the other does not know. */
export function refuseSharedTables(models: readonly ModelStatic<Model>[]): void {
  const found = new Map<string, ModelStatic<Model>>()
  for (const model of models) {
    const key = JSON.stringify(model.getTableName())
    const first = found.get(key)
    if (first)
      throw new BootError(
        `The models ${first.name} and ${model.name} have the same table, ${tableNameOf(model)}. ` +
          `Correct the tableName of one of them; for a part of the rows write a scope of one model: @Scopes(() => ({ ... })).`,
      )
    found.set(key, model)
  }
}
