import { Base } from 'sequitur'
import type { CreationOptional, NonAttribute } from 'sequelize'
import { Column, DataType, HasMany, Table } from 'sequelize-typescript'
import { Order } from './order.js'

@Table({ tableName: 'customers', timestamps: false, underscored: true })
export class Customer extends Base<Customer> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(200), allowNull: false, unique: true }) declare email: string
  @Column({ type: DataType.STRING(100), allowNull: false }) declare fullName: string

  @HasMany(() => Order) declare orders?: NonAttribute<Order[]>
}
