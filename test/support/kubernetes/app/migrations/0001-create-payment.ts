import { DataTypes, type QueryInterface } from 'sequelize'
import { createIdempotencyTable } from 'sequitur/idempotency'

export async function up({ context }: { readonly context: QueryInterface }): Promise<void> {
  await context.createTable('payment', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    account: { type: DataTypes.STRING, allowNull: false },
  })
  await createIdempotencyTable(context)
}
