import { Base, Field } from 'sequitur'
import { Column, DataType, Table } from 'sequelize-typescript'

/** A row of the benchmark's table `items`. */
@Table({ tableName: 'items', timestamps: false })
export class Item extends Base<Item> {
  @Column({ type: DataType.INTEGER, primaryKey: true }) declare id: number
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string
  @Column({ type: DataType.TEXT, allowNull: false }) declare category: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare price: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare quantity: number
  @Column({ type: DataType.BOOLEAN, allowNull: false }) declare active: boolean
  @Column({ type: DataType.JSONB, allowNull: false }) declare tags: string[]
  @Column({ type: DataType.INTEGER, allowNull: false }) declare rating_score: number
  @Column({ type: DataType.INTEGER, allowNull: false }) declare rating_count: number
}

export class Rating {
  @Field({ type: 'integer' }) score!: number
  @Field({ type: 'integer' }) count!: number
}

/** An item in a response, and in the file of the benchmark. */
export class ItemView {
  @Field({ type: 'integer' }) id!: number
  @Field() name!: string
  @Field() category!: string
  @Field({ type: 'integer' }) price!: number
  @Field({ type: 'integer' }) quantity!: number
  @Field() active!: boolean
  @Field({ type: [String] }) tags!: string[]
  @Field() rating!: Rating
}

export class PricedItem extends ItemView {
  @Field({ type: 'integer' }) total!: number
}

export function viewOf(item: Item): ItemView {
  const { id, name, category, price, quantity, active, tags, rating_score: score, rating_count: count } = item
  return { id, name, category, price, quantity, active, tags, rating: { score, count } }
}
