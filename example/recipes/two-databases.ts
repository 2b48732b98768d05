import { Base, Controller, dto, Inject, Item, newLifespan, Post, Session } from 'sequitur'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'
import { Hero } from '../hero.js'

@Table({ tableName: 'entry', timestamps: false })
export class Entry extends Base<Entry> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string
}

/** The second database of the app: `createApp({ lifespan: [database, audit] })`. */
export const audit = newLifespan(process.env['AUDIT_URL'] ?? 'sqlite+sqlite3:///:memory:', {
  models: [Entry],
  sync: true,
})

class NewHero extends dto(Hero, { omit: ['id'] }) {}

@Controller('/audited-heroes')
export class AuditedController {
  @Post('/', Item.of(Hero))
  create(input: NewHero, session: Session, @Inject(audit.Session) log: Session) {
    log.add(Entry.build({ text: `new hero: ${input.name}` }))
    return { data: session.add(Hero.build(input)) }
  }
}
