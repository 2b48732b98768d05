import { MetadataKey } from '../../di/metadata.js'
import type { Constructor } from '../../di/token.js'

/** The models that a model needs in its database: whoever names it need not name them. */
export const companionsOf = new MetadataKey<readonly Constructor[]>()

/** Models that have one class, and thus one database at a time: this package finds the tables by it. */
export const isPackageTable = new MetadataKey<boolean>()

/** The models, each with its companions. */
export function withCompanions(models: Iterable<Constructor>): readonly Constructor[] {
  return [...models].flatMap((model) => [model, ...(companionsOf.inherited(model) ?? [])])
}
