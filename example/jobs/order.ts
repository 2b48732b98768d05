import { Base } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'orders', timestamps: false })
export class Order extends Base<Order> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare account: string
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare age: CreationOptional<number>
  @Column(DataType.STRING) declare receipt: CreationOptional<string | null>
}
