import { Base, Controller, dto, Get, Item, notFound, Patch, Session } from 'sequitur'
import { IfMatch } from 'sequitur/conditional'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'page', timestamps: false, version: true })
export class WikiPage extends Base<WikiPage> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string
}

class Changes extends dto(WikiPage, { pick: ['text'] }) {}

@Controller('/wiki')
export class WikiController {
  @Get('/:id', Item.of(WikiPage, { etag: true }))
  async get(id: number, session: Session) {
    return { data: (await session.get(WikiPage, id)) ?? notFound() }
  }

  @Patch('/:id', Item.of(WikiPage, { etag: true }))
  async change(id: number, changes: Changes, ifMatch: IfMatch) {
    return { data: (await ifMatch.update(WikiPage, id, changes)) ?? notFound() }
  }
}
