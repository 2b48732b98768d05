import { createHash, randomBytes } from 'node:crypto'
import { Base, Factory, Header, Injectable, Security, select, Session, unauthorized } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'member', timestamps: false })
export class Member extends Base<Member> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(100), allowNull: false }) declare name: string
  @Column({ type: DataType.STRING(64), allowNull: false, unique: true }) declare token_hash: string
}

export function newToken(): string {
  return randomBytes(24).toString('hex')
}

/** Only the hash is stored: whoever reads the database cannot use the tokens. */
export function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex')
}

/** The member whose token the request has. */
@Injectable()
@Security({ type: 'http', scheme: 'bearer' })
export class CurrentMember {
  constructor(readonly member: Member) {}

  @Factory()
  static async of(session: Session, @Header({ optional: true }) authorization: string = '') {
    const token_hash = hashOf(authorization.replace(/^Bearer /i, ''))
    const member = await session.first(select(Member, { where: { token_hash } }))
    return new CurrentMember(member ?? unauthorized('Send the header Authorization: Bearer <token>'))
  }
}
