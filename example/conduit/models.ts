import { Base } from 'sequitur'
import type { CreationOptional, NonAttribute } from 'sequelize'
import { FeedEvent } from 'sequitur/feeds'
import { JobRecord } from 'sequitur/jobs'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'

/* In one file, because the classes name each other. */

const notEmpty = { msg: "can't be blank" }
const isEmail = { msg: 'is not an address' }
const taken = (name: string) => ({ name, msg: 'has already been taken' })

@Table({ tableName: 'users', timestamps: false })
export class User extends Base<User> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(100), allowNull: false, unique: taken('users_username'), validate: { notEmpty } })
  declare username: string
  @Column({
    type: DataType.STRING(200),
    allowNull: false,
    unique: taken('users_email'),
    validate: { notEmpty, isEmail },
  })
  declare email: string
  @Column({ type: DataType.STRING, allowNull: false }) declare password_hash: string
  @Column(DataType.TEXT) declare bio: CreationOptional<string | null>
  @Column(DataType.TEXT) declare image: CreationOptional<string | null>
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare welcomed: CreationOptional<boolean>
}

@Table({ tableName: 'follow', timestamps: false })
export class Follow extends Base<Follow> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare follower_id: number
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare followed_id: number
}

@Table({ modelName: 'article', tableName: 'article' })
export class Article extends Base<Article> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare slug: string
  @Column({ type: DataType.STRING, allowNull: false }) declare title: string
  @Column({ type: DataType.TEXT, allowNull: false }) declare description: string
  @Column({ type: DataType.TEXT, allowNull: false }) declare body: string
  @ForeignKey(() => User) @Column({ type: DataType.INTEGER, allowNull: false }) declare author_id: number
  @Column({ type: DataType.DATE(3), allowNull: false }) declare createdAt: CreationOptional<Date>
  @Column({ type: DataType.DATE(3), allowNull: false }) declare updatedAt: CreationOptional<Date>
  @BelongsTo(() => User) declare author: NonAttribute<User>
  @HasMany(() => ArticleTag) declare tags: NonAttribute<ArticleTag[]>
}

@Table({ tableName: 'article_tag', timestamps: false })
export class ArticleTag extends Base<ArticleTag> {
  @ForeignKey(() => Article) @Column({ type: DataType.INTEGER, primaryKey: true }) declare article_id: number
  @Column({ type: DataType.STRING(100), primaryKey: true }) declare tag: string
}

@Table({ tableName: 'favorite', timestamps: false })
export class Favorite extends Base<Favorite> {
  @ForeignKey(() => Article) @Column({ type: DataType.INTEGER, primaryKey: true }) declare article_id: number
  @ForeignKey(() => User) @Column({ type: DataType.INTEGER, primaryKey: true }) declare user_id: number
}

@Table({ modelName: 'comment', tableName: 'comment' })
export class Comment extends Base<Comment> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.TEXT, allowNull: false }) declare body: string
  @ForeignKey(() => Article) @Column({ type: DataType.INTEGER, allowNull: false }) declare article_id: number
  @ForeignKey(() => User) @Column({ type: DataType.INTEGER, allowNull: false }) declare author_id: number
  @Column({ type: DataType.DATE(3), allowNull: false }) declare createdAt: CreationOptional<Date>
  @Column({ type: DataType.DATE(3), allowNull: false }) declare updatedAt: CreationOptional<Date>
  @BelongsTo(() => User) declare author: NonAttribute<User>
}

export const models = [User, Follow, Article, ArticleTag, Favorite, Comment, JobRecord, FeedEvent]

/** For handlers that call findOrCreate(): by default MariaDB does not show them what another request has just written. */
export const findsNewRows = { isolation: 'read committed' } as const
