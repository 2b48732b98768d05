import { Base, Controller, Get, Page, Paginate } from 'sequitur'
import { CursorPage, CursorPaginate } from 'sequitur/cursor'
import { listOf } from 'sequitur/lists'
import { type CreationOptional, Op } from 'sequelize'
import { BelongsTo, Column, DataType, ForeignKey, Index, Table } from 'sequelize-typescript'

@Table({ tableName: 'squad', timestamps: false })
export class Squad extends Base<Squad> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false }) declare city: string
}

@Table({ tableName: 'member', timestamps: false })
export class Member extends Base<Member> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Index @Column({ type: DataType.STRING, allowNull: false }) declare name: string
  @Index @Column({ type: DataType.INTEGER, allowNull: false }) declare age: number
  @ForeignKey(() => Squad) @Column({ type: DataType.INTEGER }) declare squad_id: number | null
  @BelongsTo(() => Squad) declare squad?: Squad
}

class MemberList extends listOf(Member, {
  filter: { age: ['eq', 'gte', 'lt', 'in'], name: ['eq', 'contains'], 'squad.city': ['eq'] },
  sort: ['name', 'age'],
  defaultSort: ['name'],
  include: ['squad'],
  unindexed: ['squad.city'], // there are few squads
}) {}

@Controller('/members')
export class MemberListController {
  @Get('/', Page.of(Member))
  list(query: MemberList, paginate: Paginate<Member>) {
    return paginate(query.select())
  }

  @Get('/adults', CursorPage.of(Member))
  adults(query: MemberList, paginate: CursorPaginate<Member>) {
    return paginate(query.select({ age: { [Op.gte]: 18 } })) // and what the client asks for
  }
}
