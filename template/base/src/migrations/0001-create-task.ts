import type { QueryInterface } from 'sequelize'
import { DataTypes } from 'sequelize'

interface Migration {
  readonly context: QueryInterface
}

export async function up({ context }: Migration): Promise<void> {
  await context.createTable('task', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    title: { type: DataTypes.STRING, allowNull: false },
    done: { type: DataTypes.BOOLEAN, allowNull: false, defaultValue: false },
  })
}

export async function down({ context }: Migration): Promise<void> {
  await context.dropTable('task')
}
