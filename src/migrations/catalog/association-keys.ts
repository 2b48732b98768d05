import type { Association, Model, ModelStatic } from 'sequelize'

/** A foreign key that Sequelize makes for an association. */
export interface AssociationKey {
  readonly owner: ModelStatic<Model>
  /** The attribute. */
  readonly key: string
  readonly target: ModelStatic<Model>
}

interface ThroughAssociation {
  readonly otherKey?: string
  readonly through?: { readonly model?: ModelStatic<Model> }
}

export function keysOf(association: Association): AssociationKey[] {
  const { associationType, foreignKey: key, source, target } = association
  // Only a belongsToMany has these members, which its types leave out.
  const { otherKey, through } = association as Association & ThroughAssociation
  switch (associationType) {
    case 'BelongsTo':
      return [{ owner: source, key, target }]
    case 'BelongsToMany': {
      const owner = through?.model
      return owner === undefined || otherKey === undefined
        ? []
        : [
            { owner, key, target: source },
            { owner, key: otherKey, target },
          ]
    }
    default:
      return [{ owner: target, key, target: source }]
  }
}
