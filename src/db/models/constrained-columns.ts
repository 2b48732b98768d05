import type { IndexesOptions, Model, ModelAttributeColumnOptions, ModelStatic } from 'sequelize'
import { Association, type BaseAssociation, getAssociations, getIndexes, getOptions } from 'sequelize-typescript'

type Columns = Readonly<Record<string, ModelAttributeColumnOptions>>

/** The columns of a row that other rows, or missing ones, can stand against: keys, unique ones, and those that refer to rows. */
export function constrainedColumns(model: ModelStatic<Model>, columns: Columns): ReadonlySet<string> {
  const names = new Set([...indexed(model), ...referring(model)])
  const constrained = Object.entries(columns).filter(
    ([name, { field, primaryKey, references, unique }]) =>
      primaryKey === true || Boolean(unique) || references !== undefined || names.has(name) || names.has(field ?? name),
  )
  return new Set(constrained.map(([name]) => name))
}

// By @Index, by @Table, or by Model.init; of attributes or of columns.
function indexed(model: ModelStatic<Model>): string[] {
  const { named, unnamed } = getIndexes(model.prototype)
  const declared = [...Object.values(named), ...unnamed] as readonly IndexesOptions[]
  const options = [...(getOptions(model.prototype)?.indexes ?? []), ...(model.options?.indexes ?? [])]
  return [...declared, ...options].filter(({ unique }) => unique).flatMap(({ fields = [] }) => fields.flatMap(nameOf))
}

function nameOf(field: NonNullable<IndexesOptions['fields']>[number]): string[] {
  return typeof field === 'string' ? [field] : 'name' in field ? [field.name] : []
}

// Before a model meets its database, only its decorators tell of what it belongs to.
function referring(model: ModelStatic<Model>): string[] {
  const associations = getAssociations(model.prototype) ?? []
  return associations
    .filter((association) => association.getAssociation() === Association.BelongsTo)
    .flatMap((association) => foreignKeyOf(association, model) ?? [])
}

function foreignKeyOf(association: BaseAssociation<{}, {}>, model: ModelStatic<Model>): string | undefined {
  try {
    const { foreignKey } = association.getSequelizeOptions(model as never, undefined as never) // of which it reads nothing
    return typeof foreignKey === 'object' ? foreignKey.name : foreignKey
  } catch {
    return undefined // what is wrong with it, mapping the model tells
  }
}
