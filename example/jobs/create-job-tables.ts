import type { QueryInterface } from 'sequelize'
import { createJobTables, dropJobTables } from 'sequitur/jobs'

export async function up({ context }: { readonly context: QueryInterface }): Promise<void> {
  await createJobTables(context)
}

export async function down({ context }: { readonly context: QueryInterface }): Promise<void> {
  await dropJobTables(context)
}
