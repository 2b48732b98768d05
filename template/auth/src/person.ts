import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { Base } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'person', timestamps: false })
export class Person extends Base<Person> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(100), allowNull: false, unique: true }) declare name: string
  @Column({ type: DataType.STRING(97), allowNull: false }) declare password_hash: string
}

const derive = promisify<string, Buffer, number, Buffer>(scrypt)

/** The salt and the derived key, as 32 and 64 hexadecimal digits. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16)
  return `${salt.toString('hex')}:${(await derive(password, salt, 32)).toString('hex')}`
}

/** Without a stored hash, too: the time that it takes must not tell which names exist. */
export async function isPassword(password: string, stored = `${'00'.repeat(16)}:${'00'.repeat(32)}`): Promise<boolean> {
  const [salt = '', hash = ''] = stored.split(':')
  return timingSafeEqual(await derive(password, Buffer.from(salt, 'hex'), 32), Buffer.from(hash, 'hex'))
}
