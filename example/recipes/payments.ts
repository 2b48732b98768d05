import { Base, Controller, Field, Item, Post } from 'sequitur'
import { Idempotent } from 'sequitur/idempotency'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'payment', timestamps: false })
export class Payment extends Base<Payment> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(50), allowNull: false }) declare account: string
  @Column({ type: DataType.INTEGER, allowNull: false }) declare cents: number
}

class NewPayment {
  @Field({ maxLength: 50 }) account!: string
  @Field({ type: 'integer', minimum: 1 }) cents!: number
}

@Controller('/payments')
export class PaymentController {
  @Idempotent()
  @Post('/', Item.of(Payment))
  async pay(input: NewPayment) {
    return { data: await Payment.create({ ...input }) }
  }
}
