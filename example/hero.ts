import { Base } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'hero', timestamps: false })
export class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
  @Column({ type: DataType.STRING, allowNull: false }) declare secret_identity: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
}
