import type { QueryInterface } from 'sequelize'
import { DataTypes } from 'sequelize'

export async function up({ context }: { context: QueryInterface }): Promise<void> {
  await context.createTable('note', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    text: { type: DataTypes.TEXT, allowNull: false },
  })
}

export async function down({ context }: { context: QueryInterface }): Promise<void> {
  await context.dropTable('note')
}
