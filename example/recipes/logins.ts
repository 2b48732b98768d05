import { Base, Controller, Field, Post, Session, unauthorized } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'login_attempt', timestamps: false })
export class LoginAttempt extends Base<LoginAttempt> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.TEXT, allowNull: false }) declare account: string
}

class Login {
  @Field({ minLength: 1, maxLength: 100 }) account!: string
  @Field({ maxLength: 100 }) password!: string
}

@Controller('/logins')
export class LoginController {
  @Post('/', { status: 204 })
  login({ account, password }: Login, session: Session) {
    session.afterEnd(() => LoginAttempt.create({ account })) // kept, although a wrong password rolls back
    if (password !== 'bat signal') unauthorized('Wrong account or password')
  }
}
