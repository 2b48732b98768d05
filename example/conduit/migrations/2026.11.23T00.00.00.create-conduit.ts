import type { QueryInterface } from 'sequelize'
import { DataTypes } from 'sequelize'

const id = { type: DataTypes.INTEGER, primaryKey: true, autoIncrement: true }
const text = { type: DataTypes.TEXT, allowNull: false }
const date = { type: DataTypes.DATE(3), allowNull: false }

const reference = (model: string, primaryKey = false) => ({
  type: DataTypes.INTEGER,
  primaryKey,
  allowNull: false,
  references: { model, key: 'id' },
  onDelete: 'CASCADE',
})
const string = (length: number, options = {}) => ({ type: DataTypes.STRING(length), allowNull: false, ...options })

export async function up({ context }: { readonly context: QueryInterface }): Promise<void> {
  await context.createTable('users', {
    id,
    username: string(100, { unique: true }),
    email: string(200, { unique: true }),
    password_hash: string(255),
    bio: DataTypes.TEXT,
    image: DataTypes.TEXT,
  })
  await context.createTable('follow', { follower_id: reference('users', true), followed_id: reference('users', true) })
  await context.createTable('article', {
    id,
    slug: string(255, { unique: true }),
    title: string(255),
    description: text,
    body: text,
    author_id: reference('users'),
    createdAt: date,
    updatedAt: date,
  })
  await context.addIndex('article', ['createdAt', 'id'])
  await context.addIndex('article', ['author_id', 'createdAt'])
  await context.createTable('article_tag', {
    article_id: reference('article', true),
    tag: string(100, { primaryKey: true }),
  })
  await context.addIndex('article_tag', ['tag'])
  await context.createTable('favorite', { article_id: reference('article', true), user_id: reference('users', true) })
  await context.addIndex('favorite', ['user_id'])
  await context.createTable('comment', {
    id,
    body: text,
    article_id: reference('article'),
    author_id: reference('users'),
    createdAt: date,
    updatedAt: date,
  })
  await context.addIndex('comment', ['article_id'])
}

export async function down({ context }: { readonly context: QueryInterface }): Promise<void> {
  for (const table of ['comment', 'favorite', 'article_tag', 'article', 'follow', 'users'])
    await context.dropTable(table)
}
