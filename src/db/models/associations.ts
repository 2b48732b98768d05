import type { Model, ModelStatic } from 'sequelize'
import { getAssociations } from 'sequelize-typescript'
import { modelClass } from '../sequelize/internals.js'

/** A model that queries can include: `include: 'team'`. */
export interface Association {
  readonly name: string
  readonly target: () => ModelStatic<Model>
  /** Whether it is a list of instances, rather than one instance or null. */
  readonly many: boolean
}

/** The associations that decorators declare, also before the model is initialized, and those of calls such as `Hero.belongsTo(Team)`. */
export function associationsOf(model: ModelStatic<Model>): readonly Association[] {
  const declared = (getAssociations(model.prototype) ?? []).map((association): Association => {
    const many = association.getAssociation().endsWith('Many')
    const target = () => modelClass(association.getAssociatedClass())
    return { name: associationName(association.getAs(), many), target, many }
  })
  const { associations = {} }: Partial<ModelStatic<Model>> = model // undefined before the model is initialized
  const initialized = Object.entries(associations).map(([name, { target, isMultiAssociation }]): Association => ({
    name,
    target: () => target,
    many: isMultiAssociation,
  }))
  return [...new Map([...initialized, ...declared].map((association) => [association.name, association])).values()]
}

// sequelize-typescript sets `as` to the name of the property.
function associationName(
  as: string | { readonly singular: string; readonly plural: string } = '',
  many: boolean,
): string {
  return typeof as === 'string' ? as : many ? as.plural : as.singular
}
