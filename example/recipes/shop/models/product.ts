import { Base } from 'sequitur'
import type { CreationOptional, NonAttribute } from 'sequelize'
import { BelongsToMany, Column, DataType, HasMany, Table } from 'sequelize-typescript'
import { OrderItem } from './order-item.js'
import { Order } from './order.js'

// Only in the database: check price_in_cents >= 0.
@Table({ tableName: 'products', timestamps: false, underscored: true })
export class Product extends Base<Product> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(100), allowNull: false }) declare productName: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare priceInCents: number

  @HasMany(() => OrderItem) declare orderItems?: NonAttribute<OrderItem[]>
  @BelongsToMany(() => Order, () => OrderItem) declare orders?: NonAttribute<Order[]>
}
