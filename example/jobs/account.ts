import { Base, Field } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'account', timestamps: false })
export class Account extends Base<Account> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare email: string
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare welcomed: CreationOptional<boolean>
}

export class NewAccount {
  @Field({ format: 'email', maxLength: 200 }) email!: string
}
