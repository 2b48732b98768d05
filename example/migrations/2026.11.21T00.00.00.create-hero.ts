import type { QueryInterface } from 'sequelize'
import { DataTypes } from 'sequelize'

export async function up({ context }: { readonly context: QueryInterface }): Promise<void> {
  await context.createTable('hero', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    name: { type: DataTypes.STRING, allowNull: false, unique: true },
    secret_identity: { type: DataTypes.STRING, allowNull: false },
    age: { type: DataTypes.INTEGER, allowNull: false },
  })
}

export async function down({ context }: { readonly context: QueryInterface }): Promise<void> {
  await context.dropTable('hero')
}
