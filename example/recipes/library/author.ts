import { Base } from 'sequitur'
import type { CreationOptional, NonAttribute } from 'sequelize'
import { Column, DataType, ForeignKey, HasMany, HasOne, Table } from 'sequelize-typescript'
import { Book } from './book.js'

@Table({ modelName: 'author', tableName: 'author', timestamps: false })
export class Author extends Base<Author> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare name: string

  /** Selected by a statement; not a column. */
  declare book_count: NonAttribute<number>

  @HasOne(() => Biography) declare biography?: NonAttribute<Biography | null>
  @HasMany(() => Book) declare books?: NonAttribute<Book[]>
}

@Table({ tableName: 'biography', timestamps: false })
export class Biography extends Base<Biography> {
  @ForeignKey(() => Author) @Column({ type: DataType.INTEGER, primaryKey: true }) declare author_id: number
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string
}
