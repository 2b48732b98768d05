import {
  Base,
  conflict,
  Controller,
  Field,
  notFound,
  Path,
  Post,
  Get,
  select,
  Session,
  sql,
  Transactional,
} from 'sequitur'
import { Page, Paginate } from 'sequitur/cursor'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'wallet', timestamps: false })
export class Wallet extends Base<Wallet> {
  @Column({ type: DataType.UUID, primaryKey: true, defaultValue: DataType.UUIDV4 }) declare id: CreationOptional<string>
  @Column({ type: DataType.TEXT, allowNull: false }) declare owner: string
  @Column({ type: DataType.BIGINT, allowNull: false }) declare cents: string
}

class Transfer {
  @Field({ format: 'uuid' }) to!: string
  @Field({ type: 'integer', minimum: 1 }) cents!: number
}

@Transactional({ retry: 10 })
@Controller('/wallets')
export class WalletController {
  @Get('/', Page.of(Wallet))
  list(paginate: Paginate<Wallet>) {
    return paginate(select(Wallet, { order: ['owner'] }))
  }

  @Post('/:wallet_id/transfers', { status: 204, errors: { 404: 'Wallet not found', 409: 'Not enough money' } })
  async transfer(@Path({ format: 'uuid' }) wallet_id: string, { to, cents }: Transfer, session: Session) {
    const paid = await session.execute(
      sql`UPDATE wallet SET cents = cents - ${cents} WHERE id = ${wallet_id} AND cents >= ${cents} RETURNING id`,
    )
    if (paid.length === 0) conflict('Not enough money')
    const received = await session.execute(
      sql`UPDATE wallet SET cents = cents + ${cents} WHERE id = ${to} RETURNING id`,
    )
    if (received.length === 0) notFound('Wallet not found')
  }
}
