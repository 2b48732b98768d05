import type { QueryInterface } from 'sequelize'
import { BootError } from '../core/boot-error.js'
import { type JobTableFacts, TABLES } from './tables.js'

/**
 * Creates the tables of jobs: for a migration, which drops them by {@link dropJobTables}. Tables that are there, as those that `sync: true` has created, or a
 * migration that has failed halfway, are kept with their rows; only indexes that they lack are added.
 *
 * @throws BootError if there is another table of one of their names. Nothing is changed then.
 * @example
 * export async function up({ context }: { readonly context: QueryInterface }) { await createJobTables(context) }
 */
export async function createJobTables(queryInterface: QueryInterface): Promise<void> {
  for (const table of TABLES) await refuseOther(queryInterface, table)
  const dialect = queryInterface.sequelize.getDialect()
  for (const table of TABLES) {
    await queryInterface.createTable(table.name, table.columns(dialect)) // IF NOT EXISTS
    await addIndexes(queryInterface, table)
  }
}

async function refuseOther(queryInterface: QueryInterface, { name, columns }: JobTableFacts): Promise<void> {
  if (!(await queryInterface.tableExists(name))) return
  const found = await queryInterface.describeTable(name)
  const missing = Object.keys(columns()).filter((column) => !Object.hasOwn(found, column))
  if (missing.length === 0) return
  throw new BootError(
    `createJobTables(): there is a table ${name}, and it lacks ${missing.join(', ')}: it is another one, or that of another version. Rename or drop it.`,
  )
}

async function addIndexes(queryInterface: QueryInterface, { name, indexes }: JobTableFacts): Promise<void> {
  // Sequelize's types do not say what it returns.
  const found = (await queryInterface.showIndex(name)) as readonly { readonly name: string }[]
  for (const index of indexes(queryInterface.sequelize.getDialect()))
    if (!found.some((one) => one.name === index.name)) await queryInterface.addIndex(name, index)
}

/** Drops the tables of jobs, with the jobs. */
export async function dropJobTables(queryInterface: QueryInterface): Promise<void> {
  for (const { name } of TABLES) await queryInterface.dropTable(name)
}
