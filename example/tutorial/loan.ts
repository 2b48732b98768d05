import { Base } from 'sequitur'
import type { CreationOptional, NonAttribute } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, Index, Table } from 'sequelize-typescript'
import { Book } from './book.js'
import { Member } from './member.js'

@Table({ tableName: 'loan', timestamps: false })
export class Loan extends Base<Loan> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @ForeignKey(() => Book) @Column({ type: DataType.INTEGER, allowNull: false, unique: true }) declare book_id: number
  @BelongsTo(() => Book) declare book?: NonAttribute<Book>
  @Index @ForeignKey(() => Member) @Column({ type: DataType.INTEGER, allowNull: false }) declare member_id: number
  @Column({ type: DataType.DATEONLY, allowNull: false }) declare due: string
}
