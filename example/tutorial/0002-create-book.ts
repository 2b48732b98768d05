import { DataTypes, type QueryInterface } from 'sequelize'

export async function up({ context }: { context: QueryInterface }): Promise<void> {
  await context.createTable('author', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    name: { type: DataTypes.STRING(100), allowNull: false, unique: true },
  })
  await context.createTable('book', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    title: { type: DataTypes.STRING(200), allowNull: false },
    year: { type: DataTypes.INTEGER, allowNull: false },
    author_id: { type: DataTypes.INTEGER, allowNull: false, references: { model: 'author', key: 'id' } },
  })
  await context.addIndex('book', ['author_id'])
}

export async function down({ context }: { context: QueryInterface }): Promise<void> {
  await context.dropTable('book')
  await context.dropTable('author')
}
