import { Sequelize } from 'sequelize'
import type { Catalog } from '../../../db/catalog/catalog.js'
import { readCatalog } from '../../../db/catalog/read-catalog.js'
import { createStatements } from '../create-statements.js'
import type { TableDefinition } from '../table-definition.js'
import { creationError } from './creation-error.js'
import { inOrder } from './in-order.js'

/** Creates and reads the tables in a database in memory. */
export async function sqliteCatalogOf(sequelize: Sequelize, tables: readonly TableDefinition[]): Promise<Catalog> {
  const scratch = new Sequelize({ dialect: 'sqlite', storage: ':memory:', logging: false })
  try {
    for (const table of tables) await create(sequelize, scratch, table)
    return inOrder(await readCatalog(scratch), tables)
  } finally {
    await scratch.close()
  }
}

async function create(sequelize: Sequelize, scratch: Sequelize, table: TableDefinition): Promise<void> {
  try {
    const statements = await createStatements(sequelize, table, table.name.name, { withForeignKeys: true })
    for (const statement of statements) await scratch.query(statement)
  } catch (cause) {
    throw creationError(table, cause)
  }
}
