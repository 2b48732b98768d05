import type { QueryInterface } from 'sequelize'
import { BootError } from '../../core/boot-error.js'
import { type OwnTableFacts, tableOptions } from './own-table.js'

/**
 * Creates tables of this package, for a migration. Those that are there, as those that `sync: true` has created, or a migration that has failed halfway, are
 * kept with their rows; only indexes that they lack are added.
 *
 * @param title of the function for programs: `createJobTables()`.
 * @throws BootError if there is another table of one of their names. Nothing is changed then.
 */
export async function createOwnTables(
  queryInterface: QueryInterface,
  tables: readonly OwnTableFacts[],
  title: string,
): Promise<void> {
  for (const table of tables) await refuseOther(queryInterface, table, title)
  const dialect = queryInterface.sequelize.getDialect()
  for (const table of tables) {
    await queryInterface.createTable(table.name, table.columns(dialect), tableOptions(dialect)) // IF NOT EXISTS
    await addIndexes(queryInterface, table)
  }
}

async function refuseOther(
  queryInterface: QueryInterface,
  { name, columns }: OwnTableFacts,
  title: string,
): Promise<void> {
  if (!(await queryInterface.tableExists(name))) return
  const found = await queryInterface.describeTable(name)
  const missing = Object.keys(columns()).filter((column) => !Object.hasOwn(found, column))
  if (missing.length === 0) return
  throw new BootError(
    `${title}: there is a table ${name}, and it lacks ${missing.join(', ')}: it is another one, or that of another version. Rename or drop it.`,
  )
}

async function addIndexes(queryInterface: QueryInterface, { name, indexes }: OwnTableFacts): Promise<void> {
  // Sequelize's types do not say what it returns.
  const found = (await queryInterface.showIndex(name)) as readonly { readonly name: string }[]
  for (const index of indexes(queryInterface.sequelize.getDialect()))
    if (!found.some((one) => one.name === index.name)) await queryInterface.addIndex(name, index)
}

/** Drops them, with their rows. */
export async function dropOwnTables(queryInterface: QueryInterface, tables: readonly OwnTableFacts[]): Promise<void> {
  for (const { name } of tables) await queryInterface.dropTable(name)
}
