import { Base } from 'sequitur'
import { type CreationOptional, literal, type NonAttribute } from 'sequelize'
import { BelongsTo, BelongsToMany, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript'
import { Customer } from './customer.js'
import { OrderItem } from './order-item.js'
import { Product } from './product.js'

@Table({
  tableName: 'orders',
  timestamps: false,
  underscored: true,
  indexes: [{ name: 'orders_of_customer', fields: ['customerId', 'placedAt'] }],
})
export class Order extends Base<Order> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @ForeignKey(() => Customer)
  @Column({ type: DataType.INTEGER, allowNull: false, onDelete: 'RESTRICT' })
  declare customerId: number
  @Column({ type: DataType.DATE, allowNull: false, defaultValue: literal('CURRENT_TIMESTAMP') })
  declare placedAt: CreationOptional<Date>
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare isPaid: CreationOptional<boolean>

  @BelongsTo(() => Customer) declare customer?: NonAttribute<Customer>
  @HasMany(() => OrderItem) declare orderItems?: NonAttribute<OrderItem[]>
  @BelongsToMany(() => Product, () => OrderItem) declare products?: NonAttribute<Product[]>
}
