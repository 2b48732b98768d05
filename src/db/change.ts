import type { Model, ModelStatic, Sequelize } from 'sequelize'

/** What a session still has to write. */
export interface Change {
  readonly kind: 'save' | 'delete'
  readonly instance: Model
}

/**
 * The changes in an order that foreign keys allow: within a run of additions what others refer to comes first, within a run of
 * deletions last. Runs keep their places, so that a name can be freed and taken again in one flush.
 */
export function inForeignKeyOrder(sequelize: Sequelize, changes: readonly Change[]): readonly Change[] {
  const rank = changes.length > 1 ? ranks(sequelize) : undefined
  if (!rank) return changes
  const rankOf = ({ instance }: Change) => rank.get(instance.constructor) ?? 0
  return runsOf(changes).flatMap((run) =>
    run.toSorted((a, b) => (a.kind === 'save' ? rankOf(a) - rankOf(b) : rankOf(b) - rankOf(a))),
  )
}

function runsOf(changes: readonly Change[]): Change[][] {
  const runs: Change[][] = []
  for (const change of changes) {
    const last = runs.at(-1)
    if (last?.[0]?.kind === change.kind) last.push(change)
    else runs.push([change])
  }
  return runs
}

interface ModelManager {
  getModelsTopoSortedByForeignKey(): ModelStatic<Model>[] | null
}

// Sequelize gives those that refer to others first, and nothing when they refer to each other in a circle.
function ranks(sequelize: Sequelize): ReadonlyMap<unknown, number> | undefined {
  const { modelManager } = sequelize as unknown as { modelManager: ModelManager }
  const sorted = modelManager.getModelsTopoSortedByForeignKey()
  return sorted ? new Map(sorted.toReversed().map((model, rank) => [model, rank])) : undefined
}
