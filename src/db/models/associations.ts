import type { Association as SequelizeAssociation, Model, ModelStatic } from 'sequelize'
import { getAssociations } from 'sequelize-typescript'

/** What can be read along with a model: `include: 'team'`. */
export interface Association {
  readonly name: string
  readonly target: () => ModelStatic<Model>
  /** A list, where others are one or null. */
  readonly many: boolean
}

/** The associations that decorators declare, also before the model meets its database, and those made by `Hero.belongsTo(Team)`. */
export function associationsOf(model: ModelStatic<Model>): readonly Association[] {
  const declared = (getAssociations(model.prototype) ?? []).map((association): Association => {
    const many = association.getAssociation().endsWith('Many')
    return { name: nameOf(association.getAs(), many), target: () => association.getAssociatedClass() as never, many }
  })
  const { associations = {} } = model as { associations?: Readonly<Record<string, SequelizeAssociation>> }
  const made = Object.entries(associations).map(([name, { target, isMultiAssociation }]): Association => ({
    name,
    target: () => target,
    many: isMultiAssociation,
  }))
  return [...new Map([...made, ...declared].map((association) => [association.name, association])).values()]
}

// Given by sequelize-typescript for each, after its property.
function nameOf(as: string | { readonly singular: string; readonly plural: string } = '', many: boolean): string {
  return typeof as === 'string' ? as : many ? as.plural : as.singular
}
