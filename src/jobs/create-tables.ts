import type { QueryInterface } from 'sequelize'
import { createOwnTables, dropOwnTables } from '../db/own-tables/create-own-tables.js'
import { TABLES } from './tables.js'

/**
 * Creates the tables of jobs: for a migration, which drops them by {@link dropJobTables}. Tables that are there, as those that `sync: true` has created, or a
 * migration that has failed halfway, are kept with their rows; only indexes that they lack are added.
 *
 * @throws BootError if there is another table of one of their names. Nothing is changed then.
 * @example
 * export async function up({ context }: { readonly context: QueryInterface }) { await createJobTables(context) }
 */
export function createJobTables(queryInterface: QueryInterface): Promise<void> {
  return createOwnTables(queryInterface, TABLES, 'createJobTables()')
}

/** Drops the tables of jobs, with the jobs. */
export function dropJobTables(queryInterface: QueryInterface): Promise<void> {
  return dropOwnTables(queryInterface, TABLES)
}
