import { Base } from 'sequitur'
import type { CreationOptional, NonAttribute } from 'sequelize'
import { BelongsTo, BelongsToMany, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import { Author } from './author.js'

@Table({ tableName: 'book', timestamps: false })
export class Book extends Base<Book> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare title: string

  @ForeignKey(() => Author) @Column({ type: DataType.INTEGER, allowNull: false }) declare author_id: number
  @BelongsTo(() => Author) declare author: NonAttribute<Author>

  @ForeignKey(() => Book) @Column(DataType.INTEGER) declare prequel_id: CreationOptional<number | null>
  @BelongsTo(() => Book, 'prequel_id') declare prequel?: NonAttribute<Book | null>
  @HasMany(() => Book, 'prequel_id') declare sequels?: NonAttribute<Book[]>

  @BelongsToMany(() => Tag, () => BookTag) declare tags: NonAttribute<Tag[]>

  /** Computed from a column that is read. */
  @Column(DataType.VIRTUAL(DataType.STRING, ['title']))
  get slug(): CreationOptional<string> {
    return this.title.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')
  }
}

@Table({ tableName: 'tag', timestamps: false })
export class Tag extends Base<Tag> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string

  @BelongsToMany(() => Book, () => BookTag) declare books?: NonAttribute<Book[]>
}

@Table({ tableName: 'book_tag', timestamps: false })
export class BookTag extends Base<BookTag> {
  @ForeignKey(() => Book) @Column({ type: DataType.INTEGER, primaryKey: true }) declare book_id: number
  @ForeignKey(() => Tag) @Column({ type: DataType.INTEGER, primaryKey: true }) declare tag_id: number
}
