import type { QueryInterface } from 'sequelize'
import { createIdempotencyTable } from 'sequitur/idempotency'

export async function up({ context }: { readonly context: QueryInterface }): Promise<void> {
  await createIdempotencyTable(context)
}

export async function down({ context }: { readonly context: QueryInterface }): Promise<void> {
  await context.dropTable('idempotency_record')
}
