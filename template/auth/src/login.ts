import { createHash, randomBytes } from 'node:crypto'
import { Base, select, type Session } from 'sequitur'
import { type NonAttribute, Op } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, Index, Table } from 'sequelize-typescript'
import { Person } from './person.js'

/** A client in which a person is logged in. It keeps the key; here is only a hash of it, with which nobody can log in. */
@Table({ tableName: 'login', timestamps: false })
export class Login extends Base<Login> {
  @Column({ type: DataType.STRING(64), primaryKey: true }) declare key_hash: string
  @Index @ForeignKey(() => Person) @Column({ type: DataType.INTEGER, allowNull: false }) declare person_id: number
  @BelongsTo(() => Person) declare person?: NonAttribute<Person>
  @Column({ type: DataType.DATE, allowNull: false }) declare expires: Date
}

/** 14 days. */
export const LOGIN_SECONDS = 14 * 24 * 60 * 60

/** @returns the key for the client. It is new for each login: no one can have planted it. */
export async function logIn(person: Person, session: Session): Promise<string> {
  await Login.destroy({ where: { person_id: person.id, expires: { [Op.lt]: new Date() } } })
  const key = randomBytes(32).toString('hex')
  const expires = new Date(Date.now() + LOGIN_SECONDS * 1000)
  session.add(Login.build({ key_hash: hashOf(key), person_id: person.id, expires }))
  return key
}

/** @returns the login with its person, or undefined if the key is wrong or expired. */
export async function findLogin(key: string, session: Session): Promise<Login | undefined> {
  const where = { key_hash: hashOf(key), expires: { [Op.gt]: new Date() } }
  return (await session.first(select(Login, { where, include: [Person] }))) ?? undefined
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex')
}
