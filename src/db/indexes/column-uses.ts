import type { Model, ModelStatic } from 'sequelize'

type AnyModel = ModelStatic<Model>

/** A column that clients can filter or sort by: without an index every such request reads the whole table. */
export interface ColumnUse {
  readonly model: AnyModel
  readonly attribute: string
  /** For the advice: `HeroList filters`. */
  readonly by: string
}

const declared = new WeakMap<AnyModel, Map<unknown, () => readonly ColumnUse[]>>()

/**
 * Declares which columns a part of the program uses, so that the start and `sequitur doctor` name those that no index begins with.
 *
 * @param root a model of the database.
 * @param user what uses them. A second declaration of it replaces the first.
 * @param uses evaluated when the models are initialized.
 */
export function declareColumnUses(root: AnyModel, user: unknown, uses: () => readonly ColumnUse[]): void {
  declared.set(root, (declared.get(root) ?? new Map<unknown, () => readonly ColumnUse[]>()).set(user, uses))
}

/** All that is declared for these models, and for those associated with them. */
export function columnUsesOf(models: readonly AnyModel[]): readonly ColumnUse[] {
  return models.flatMap((model) => [...(declared.get(model)?.values() ?? [])].flatMap((uses) => uses()))
}
