import type { QueryInterface } from 'sequelize'
import { createFeedTables, dropFeedTables } from 'sequitur/feeds'

export async function up({ context }: { readonly context: QueryInterface }): Promise<void> {
  await createFeedTables(context)
}

export async function down({ context }: { readonly context: QueryInterface }): Promise<void> {
  await dropFeedTables(context)
}
