import { Base, Controller, Field, Inject, Post, Session } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { mailer, type Mailer } from './mailer.js'

@Table({ tableName: 'account', timestamps: false })
export class Account extends Base<Account> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare email: string
  @Column({ type: DataType.BOOLEAN, allowNull: false, defaultValue: false }) declare welcomed: CreationOptional<boolean>
}

class NewAccount {
  @Field({ format: 'email', maxLength: 200 }) email!: string
}

@Controller('/accounts')
export class AccountController {
  constructor(@Inject(mailer) private readonly mail: Mailer) {}

  @Post('/', { status: 202 })
  create({ email }: NewAccount, session: Session) {
    session.add(Account.build({ email }))
    session.afterResponse(async () => {
      await this.mail.send(email, 'Welcome!')
      await Account.update({ welcomed: true }, { where: { email } })
    })
  }
}
