import type { Model, ModelStatic } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { shown } from '../core/options.js'
import type { Catalog } from '../db/catalog/catalog.js'
import { tableOfModel } from '../db/catalog/catalog-name.js'
import { MetadataKey } from '../di/metadata.js'
import { displayOfColumn } from './difference/change.js'

const formerName = new MetadataKey<string>()

/**
 * The former name of a column: `sequitur migrate diff` renames it instead of adding one. It has no effect on a database that has the new name, and can be removed
 * when all databases have it.
 *
 * @param name that of the column, as the database has it.
 * @throws BootError for what is no name.
 * @example
 * @Renamed('age')
 * @Column({ type: DataType.INTEGER, allowNull: false })
 * declare years: number
 */
export function Renamed(name: string): PropertyDecorator {
  if (typeof name !== 'string' || name === '')
    throw new BootError(`@Renamed() takes the former name of the column, got ${shown(name)}. Write @Renamed('age').`)
  return (prototype, property) => formerName.write(prototype, name, property)
}

/** The renames that the models state and the database lacks: `hero.age:years`. */
export function statedRenames(models: readonly ModelStatic<Model>[], database: Catalog): readonly string[] {
  return models.flatMap((model) => {
    const table = tableOfModel(database, model)
    const has = (column: string) => table?.columns.some((one) => one.name === column) === true
    return Object.entries(model.getAttributes()).flatMap(([attribute, { field = attribute }]) => {
      const from = formerName.inherited(model.prototype, attribute)
      return from !== undefined && table && has(from) && !has(field) ? [`${displayOfColumn(table, from)}:${field}`] : []
    })
  })
}
