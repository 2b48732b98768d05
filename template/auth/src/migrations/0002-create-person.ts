import { DataTypes, type QueryInterface } from 'sequelize'

export async function up({ context }: { context: QueryInterface }): Promise<void> {
  await context.createTable('person', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    name: { type: DataTypes.STRING(100), allowNull: false, unique: true },
    password_hash: { type: DataTypes.STRING(97), allowNull: false },
  })
  await context.createTable('login', {
    key_hash: { type: DataTypes.STRING(64), primaryKey: true },
    person_id: { type: DataTypes.INTEGER, allowNull: false, references: { model: 'person', key: 'id' } },
    expires: { type: DataTypes.DATE(3), allowNull: false },
  })
  await context.addIndex('login', ['person_id'])
}

export async function down({ context }: { context: QueryInterface }): Promise<void> {
  await context.dropTable('login')
  await context.dropTable('person')
}
