import { Base } from 'sequitur'
import type { CreationOptional, NonAttribute } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Index, Table } from 'sequelize-typescript'

@Table({ tableName: 'author', timestamps: false })
export class Author extends Base<Author> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(100), allowNull: false, unique: true }) declare name: string
  @HasMany(() => Book, { onDelete: 'RESTRICT' }) declare books?: NonAttribute<Book[]>
}

@Table({ tableName: 'book', timestamps: false })
export class Book extends Base<Book> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(200), allowNull: false, validate: { notEmpty: true } }) declare title: string
  @Column({ type: DataType.INTEGER, allowNull: false, validate: { min: 1450, max: 2100 } }) declare year: number
  @Index @ForeignKey(() => Author) @Column({ type: DataType.INTEGER, allowNull: false }) declare author_id: number
  @BelongsTo(() => Author) declare author?: NonAttribute<Author>
}
