import { DataTypes, type QueryInterface } from 'sequelize'
import { createJobTables, dropJobTables } from 'sequitur/jobs'

export async function up({ context }: { readonly context: QueryInterface }): Promise<void> {
  await createJobTables(context)
  await context.addColumn('users', 'welcomed', { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false })
}

export async function down({ context }: { readonly context: QueryInterface }): Promise<void> {
  await context.removeColumn('users', 'welcomed')
  await dropJobTables(context)
}
