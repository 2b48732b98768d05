import { tableNameOf } from './table-name.js'
import { type Model, type ModelStatic, Utils } from 'sequelize'
import { getIndexes, getOptions } from 'sequelize-typescript'
import { BootError } from '../../core/boot-error.js'
import { type IndexInternals, modelInternals } from '../sequelize/internals.js'

type IndexField = IndexInternals['fields'][number]

/** @throws BootError for a model with `@Index` and `@Table({ indexes })`: sequelize-typescript drops the indexes of `@Index`, also unique ones. */
export function refuseLostIndexes(models: readonly ModelStatic<Model>[]): void {
  for (const { name, prototype } of models) {
    const { named, unnamed } = getIndexes(prototype)
    const lost = Object.keys(named).length + unnamed.length
    if (lost > 0 && getOptions(prototype)?.indexes)
      throw new BootError(
        `${name} has @Index and @Table({ indexes }), of which sequelize-typescript keeps only the indexes of @Table. Write all of them in one of the two.`,
      )
  }
}

/**
 * Gives each declared index the columns of the attributes that it names. `@Index` names the attribute, and Sequelize takes the name for that of a
 * column: with `underscored`, or a `field`, there is none.
 */
export function nameIndexColumns(models: readonly ModelStatic<Model>[]): void {
  for (const model of models) {
    const internals = modelInternals(model)
    // Copies: the objects belong to the decorators, which are read again for another database.
    internals._indexes = internals._indexes.map((index) => ({
      ...index,
      fields: index.fields.map((field) => withColumn(model, field)),
      ...(index.where ? { where: Utils.mapWhereFieldNames(index.where, model) } : {}),
    }))
  }
}

function withColumn(model: ModelStatic<Model>, field: IndexField): IndexField {
  if (typeof field === 'string') return columnOf(model, field)
  const name = indexedName(field)
  // Sequelize reads `attribute`, an older name of it, before `name`.
  return name === undefined ? field : Object.assign({}, field, { name: columnOf(model, name), attribute: undefined })
}

/** The name of a column or an attribute; undefined for an expression. */
function indexedName(field: IndexField): string | undefined {
  if (typeof field === 'string') return field
  if (field instanceof Utils.SequelizeMethod) return undefined
  const { attribute, name }: { readonly attribute?: unknown; readonly name?: unknown } = field
  return [attribute, name].find((given) => typeof given === 'string')
}

function columnOf(model: ModelStatic<Model>, name: string): string {
  const { rawAttributes } = modelInternals(model)
  const isColumn = Object.entries(rawAttributes).some(([attribute, { field = attribute }]) => field === name)
  return isColumn ? name : (rawAttributes[name]?.field ?? name)
}

/** Sentences that name each declared index with a name that is neither a column nor an attribute of its model, and what to write instead. */
export function unknownIndexColumns(models: readonly ModelStatic<Model>[]): string[] {
  return models.flatMap((model) => {
    const { rawAttributes, _indexes } = modelInternals(model)
    const columns = Object.entries(rawAttributes).map(([attribute, { field = attribute }]) => field)
    return _indexes.flatMap((index) =>
      index.fields.flatMap((field) => {
        const name = indexedName(field)
        if (name === undefined || columns.includes(name)) return []
        return [
          `The index ${index.name} of table ${tableNameOf(model)} names ${name}, which is no attribute and no column of ${model.name}. ` +
            `Correct the name in @Index, or in the indexes of @Table: ${model.name} has ${Object.keys(rawAttributes).join(', ')}.`,
        ]
      }),
    )
  })
}
