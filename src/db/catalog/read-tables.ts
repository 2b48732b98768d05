import { DatabaseError, type Model, type ModelStatic, type Sequelize } from 'sequelize'
import { isCancelled, isLostConnection } from '../dialect.js'
import type { Catalog } from './catalog.js'
import { catalogNameOf } from './catalog-name.js'
import { isDatabaseKind, readCatalog } from './read-catalog.js'

/**
 * Reads the models' tables.
 *
 * @returns undefined for a database of another kind, and for a server that only speaks the protocol of one, and lacks parts of its catalog.
 * @throws the driver's error if the connection is lost.
 */
export async function readTables(
  sequelize: Sequelize,
  models: readonly ModelStatic<Model>[],
): Promise<Catalog | undefined> {
  const kind = sequelize.getDialect()
  if (!isDatabaseKind(kind)) return undefined
  try {
    return await readCatalog(sequelize, { only: models.map((model) => catalogNameOf(model, kind)) })
  } catch (error) {
    if (error instanceof DatabaseError && !isLostConnection(error) && !isCancelled(error)) return undefined
    throw error
  }
}
