import type { IndexesOptions, Model, ModelAttributeColumnOptions, ModelStatic } from 'sequelize'
import { Association, type BaseAssociation, getAssociations, getIndexes, getOptions } from 'sequelize-typescript'

type Columns = Readonly<Record<string, ModelAttributeColumnOptions>>

/** The columns whose values can violate a constraint with other rows: primary keys, unique columns and foreign keys. */
export function constrainedColumns(model: ModelStatic<Model>, columns: Columns): ReadonlySet<string> {
  const names = new Set([...uniquelyIndexed(model), ...foreignKeys(model)])
  const constrained = Object.entries(columns).filter(
    ([name, { field, primaryKey, references, unique }]) =>
      primaryKey === true || Boolean(unique) || references !== undefined || names.has(name) || names.has(field ?? name),
  )
  return new Set(constrained.map(([name]) => name))
}

// Indexes of @Index, @Table or Model.init; their fields are names of attributes or of columns.
function uniquelyIndexed(model: ModelStatic<Model>): string[] {
  const { named, unnamed } = getIndexes(model.prototype)
  const declared: readonly IndexesOptions[] = [...Object.values(named), ...unnamed]
  const options = [...(getOptions(model.prototype)?.indexes ?? []), ...(model.options?.indexes ?? [])]
  return [...declared, ...options]
    .filter(({ unique }) => unique)
    .flatMap(({ fields = [] }) => fields.flatMap(indexedNames))
}

function indexedNames(field: NonNullable<IndexesOptions['fields']>[number]): string[] {
  return typeof field === 'string' ? [field] : 'name' in field ? [field.name] : []
}

// Read from the decorators: before the model is initialized, its associations exist only there.
function foreignKeys(model: ModelStatic<Model>): string[] {
  const associations = getAssociations(model.prototype) ?? []
  return associations
    .filter((association) => association.getAssociation() === Association.BelongsTo)
    .flatMap((association) => foreignKeyOf(association, model) ?? [])
}

function foreignKeyOf(association: BaseAssociation<{}, {}>, model: ModelStatic<Model>): string | undefined {
  try {
    const { foreignKey } = association.getSequelizeOptions(model as never, undefined as never) // BelongsTo does not use the second argument
    return typeof foreignKey === 'object' ? foreignKey.name : foreignKey
  } catch {
    return undefined // initializing the model reports the error
  }
}
