import type { Association, Model, ModelStatic } from 'sequelize'
import { getAssociations, getAttributes } from 'sequelize-typescript'
import type { ForeignKey } from '../../db/catalog/catalog.js'
import { keysOf } from './association-keys.js'
import type { ModelForeignKey } from './model-tables.js'
import type { TableDefinition } from './table-definition.js'

interface Actions {
  readonly onDelete?: unknown
  readonly onUpdate?: unknown
}

/** Tells which actions of a foreign key the models state: on the column, or on an association of either side. */
export class StatedActions {
  /** By the model with the key, and the attribute. */
  readonly #byModel = new Map<ModelStatic<Model>, Map<string, Actions[]>>()
  /** The keys of associations: Sequelize chooses actions only for them. */
  readonly #keys = new Map<ModelStatic<Model>, Set<string>>()

  /** @param models all models of the database: those that refer to a table, too. */
  constructor(models: readonly ModelStatic<Model>[]) {
    for (const model of models) {
      for (const [attribute, declared] of Object.entries(declaredAttributes(model)))
        this.#add(model, attribute, declared)
      for (const association of Object.values(model.associations)) this.#addAssociation(model, association)
    }
  }

  #add(model: ModelStatic<Model>, attribute: string, actions: Actions): void {
    const attributes = this.#byModel.get(model) ?? new Map<string, Actions[]>()
    this.#byModel.set(model, attributes)
    attributes.set(attribute, [...(attributes.get(attribute) ?? []), actions])
  }

  #addAssociation(model: ModelStatic<Model>, association: Association): void {
    const actions = declaredActions(model, association)
    for (const { owner, key } of keysOf(association)) {
      this.#add(owner, key, actions)
      this.#keys.set(owner, (this.#keys.get(owner) ?? new Set()).add(key))
    }
  }

  /** @param key of the table, as the database describes it. */
  of({ models, attributes }: TableDefinition, key: ForeignKey): ModelForeignKey['states'] {
    const [column = ''] = key.columns
    const attribute = attributes[column]
    const names = models.flatMap((model) =>
      Object.entries(model.getAttributes())
        .filter(([name, { field = name }]) => field === column)
        .map(([name]) => ({ model, name })),
    )
    const found = names.flatMap(({ model, name }) => this.#byModel.get(model)?.get(name) ?? [])
    const isOfAssociation = names.some(({ model, name }) => this.#keys.get(model)?.has(name) === true)
    const isStated = (action: keyof Actions, own: readonly string[]) =>
      found.some((actions) => actions[action] !== undefined) ||
      !isChosenBySequelize(attribute?.[action], isOfAssociation ? own : [])
    return {
      onDelete: isStated('onDelete', ['SET NULL', 'NO ACTION', 'CASCADE']),
      onUpdate: isStated('onUpdate', ['CASCADE']),
    }
  }
}

function isChosenBySequelize(action: string | undefined, own: readonly string[]): boolean {
  return action === undefined || own.includes(action.toUpperCase())
}

/** The options of the decorators; Sequelize adds its own to those that it is given. */
function declaredAttributes(model: ModelStatic<Model>): Readonly<Record<string, Actions>> {
  return (getAttributes(model.prototype) ?? {}) as Readonly<Record<string, Actions>>
}

function declaredActions(model: ModelStatic<Model>, { as }: Association): Actions {
  const declared = (getAssociations(model.prototype) ?? []).find((one) => {
    const name = one.getAs()
    return typeof name === 'string' ? name === as : name?.plural === as
  })
  // A protected member, because it is for its own classes: there is no other way to what the program has written.
  return declared ? (declared as unknown as { readonly options: Actions }).options : {}
}
