import { DataTypes, type QueryInterface } from 'sequelize'

export async function up({ context }: { context: QueryInterface }): Promise<void> {
  await context.createTable('member', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    name: { type: DataTypes.STRING(100), allowNull: false },
    token_hash: { type: DataTypes.STRING(64), allowNull: false, unique: true },
  })
  await context.createTable('loan', {
    id: { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true },
    book_id: { type: DataTypes.INTEGER, allowNull: false, unique: true, references: { model: 'book', key: 'id' } },
    member_id: { type: DataTypes.INTEGER, allowNull: false, references: { model: 'member', key: 'id' } },
    due: { type: DataTypes.DATEONLY, allowNull: false },
  })
  await context.addIndex('loan', ['member_id'])
}

export async function down({ context }: { context: QueryInterface }): Promise<void> {
  await context.dropTable('loan')
  await context.dropTable('member')
}
