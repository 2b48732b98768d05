import { QueryTypes, type Sequelize } from 'sequelize'
import { modelInternals, queryInterfaceOf, sequelizeInternals } from '../../db/sequelize/internals.js'
import type { TableDefinition } from './table-definition.js'

/**
 * The statements with which Sequelize creates a table, its enum types and its indexes. Nothing is sent to the database.
 *
 * @param name the name to create it under: a text, or an object with a schema.
 * @param withForeignKeys false leaves them out, for tables that refer to each other.
 */
export async function createStatements(
  sequelize: Sequelize,
  { models, attributes, uniqueKeys, indexes }: TableDefinition,
  name: string | object,
  { withForeignKeys }: { readonly withForeignKeys: boolean },
): Promise<readonly string[]> {
  const [model] = models
  if (!model) return []
  const statements: string[] = []
  const recorder = recordingInterface(sequelize, statements)
  const options = { ...modelInternals(model).options, schema: undefined }
  const own = { ...options, uniqueKeys, withoutForeignKeyConstraints: !withForeignKeys }
  await recorder.createTable(name, attributes, own, model)
  // A transaction takes no index that is created concurrently.
  for (const index of indexes) await recorder.addIndex(name, { ...options, ...index, concurrently: false })
  return statements
}

/** Sequelize's interface, whose statements are recorded instead of being sent. What it asks for is answered as by an empty database. */
function recordingInterface(sequelize: Sequelize, statements: string[]) {
  const { dialect } = sequelizeInternals(sequelize)
  const connectionManager = { _refreshDynamicOIDs: () => Promise.resolve() }
  const query = (sql: unknown, options?: { readonly type?: unknown }) => {
    if (options?.type !== QueryTypes.SELECT) statements.push(String(sql))
    return Promise.resolve(undefined)
  }
  const recording: object = Object.create(sequelize, {
    query: { value: query },
    dialect: { value: Object.create(dialect, { connectionManager: { value: connectionManager } }) },
  })
  const own = queryInterfaceOf(sequelize)
  // It has the members of the interface that it inherits from.
  return Object.create(own, { sequelize: { value: recording } }) as typeof own
}
