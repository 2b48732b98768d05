import { Base } from 'sequitur'
import type { CreationOptional, NonAttribute } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript'
import { Order } from './order.js'
import { Product } from './product.js'

@Table({ tableName: 'order_items', timestamps: false, underscored: true })
export class OrderItem extends Base<OrderItem> {
  @ForeignKey(() => Order)
  @Column({ type: DataType.INTEGER, primaryKey: true, onDelete: 'CASCADE' })
  declare orderId: number
  @ForeignKey(() => Product)
  @Column({ type: DataType.INTEGER, primaryKey: true, onDelete: 'RESTRICT' })
  declare productId: number
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare quantity: CreationOptional<number>

  @BelongsTo(() => Order) declare order?: NonAttribute<Order>
  @BelongsTo(() => Product) declare product?: NonAttribute<Product>
}
