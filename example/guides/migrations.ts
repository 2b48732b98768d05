import { Base, Controller, createApp, Get, newLifespan, Page, Paginate, select } from 'sequitur'
import { Renamed } from 'sequitur/migrations'
import type { CreationOptional } from 'sequelize'
import { Column, DataType, Table } from 'sequelize-typescript'

@Table({ tableName: 'hero', timestamps: false, indexes: [{ fields: ['power'] }] })
export class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING(50), allowNull: false }) declare name: string
  @Renamed('age') @Column({ type: DataType.INTEGER, allowNull: false }) declare years: number
  @Column({ type: DataType.STRING(50), allowNull: true }) declare power: string | null
}

@Controller('/heroes')
export class HeroController {
  @Get('/', Page.of(Hero))
  list(paginate: Paginate<Hero>) {
    return paginate(select(Hero, { order: ['id'] }))
  }
}

export const app = createApp({ controllers: [HeroController], models: [Hero], lifespan: newLifespan() })
