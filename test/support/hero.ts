import type { CreationOptional, ForeignKey } from 'sequelize'
import { Column, DataType, ForeignKey as References, Table } from 'sequelize-typescript'
import { Base } from 'sequitur'

/*
 * The models of tests that need some table: heroes, and the teams that they belong to.
 */

@Table({ tableName: 'team', timestamps: false })
export class Team extends Base<Team> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
}

@Table({ tableName: 'hero', timestamps: false })
export class Hero extends Base<Hero> {
  @Column({ type: DataType.INTEGER, primaryKey: true, autoIncrement: true }) declare id: CreationOptional<number>
  @Column({ type: DataType.STRING, allowNull: false, unique: true }) declare name: string
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 0 }) declare age: CreationOptional<number>
  @References(() => Team)
  @Column({ type: DataType.INTEGER, field: 'team_id' })
  declare teamId: CreationOptional<ForeignKey<number | null>>
}
