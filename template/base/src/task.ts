import { Base } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'task', timestamps: false })
export class Task extends Base<Task> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare title: string
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare done: CreationOptional<boolean>
}
